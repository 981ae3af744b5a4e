"""A file for each table: the paper's values as it prints them, and the run and figure that stand beside each.

``extras`` has what the paper does not report. Every file defines ``TABLE``; a new one is entered in the registry.
"""
