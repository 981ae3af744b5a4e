"""One module per explainer, called as the explainer is; a method with several files is a folder.

A folder has the class in ``explainer`` and presets in ``settings``, which can be read without loading anything heavy.
"""
