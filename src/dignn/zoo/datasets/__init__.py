"""Data sets by name: ``registry.load("planted")``; one file per family.

Generated sets are made from a seed; files of the others are found, read and, if wanted, fetched by ``raw_files``.
"""
