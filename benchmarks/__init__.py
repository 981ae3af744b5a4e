"""Measurements of speed, memory and accuracy. ``make bench`` runs them and writes ``docs/benchmarks.md``."""
