"""A file for each table: the paper's values as it prints them, and for each the run and the figure that stand beside it.

``extras`` has what the paper does not report. Every file defines ``TABLE``; a new one is entered in the registry.
"""
