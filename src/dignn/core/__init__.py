"""What every room needs and none is about: errors, seeds, files, run folders, processes, registries, checks.

Imports nothing else of dignn.
"""
