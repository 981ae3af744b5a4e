"""Structure by node growth: absorbing diffusion over nodes. ``generator`` is the way in.

Graphs grow node by node and are connected at every step; one model serves all sizes.
"""
