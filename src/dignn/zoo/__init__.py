"""Data sets by name, the models that are trained on them, and worlds: both at once, drawn at random.

What the commands offer to explain; nothing that explains knows of it.
"""
