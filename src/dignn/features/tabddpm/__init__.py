"""TabDDPM: Gaussian and multinomial diffusion of feature tables. ``generator`` is the way in.

Rows that many nodes share are drawn as they are; the others are scaled, diffused and scaled back.
"""
