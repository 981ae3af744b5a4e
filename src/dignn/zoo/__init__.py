"""Data sets by name, and the models that are trained on them.

What the commands offer to explain; nothing that explains knows of it.
"""
