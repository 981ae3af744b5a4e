"""Motifs: small graphs to look for in others: matching, the motifs of each class, mining them, chemistry's groups.

``matching.contains`` decides exactly which graphs contain which motifs, for thousands of pairs at once.
"""
