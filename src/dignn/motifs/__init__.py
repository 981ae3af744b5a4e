"""Motifs: small graphs to look for in others.

:mod:`~dignn.motifs.matching` says which graphs contain which motifs, :mod:`~dignn.motifs.sets` holds the motifs of
each class, :mod:`~dignn.motifs.mining` finds them in real graphs. Beside the way of the data: selection and metrics
may import from here, and nothing here imports from them.
"""
