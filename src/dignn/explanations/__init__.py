"""What an explainer returns: explanations by class, and their files in a run folder.

``Explanations`` is a mapping that saves, loads, plots, exports and writes the page; it needs neither data nor model.
"""
