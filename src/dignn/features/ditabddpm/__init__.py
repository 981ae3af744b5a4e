"""DiTabDDPM: discrete diffusion of feature tables, absorbing or marginal. ``generator`` is the way in.

Absorbing noise is for wide and sparse tables (words), marginal noise, the paper's, for any other.
"""
