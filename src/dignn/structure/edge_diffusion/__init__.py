"""Structure by diffusion over edges, absorbing or marginal (DiGress). ``generator`` is the way in.

The paper's setting, marginal noise with a graph transformer for each size, is one configuration of it.
"""
