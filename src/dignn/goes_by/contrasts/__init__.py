"""Pairs of graphs of which the model says different things and that differ in as little as possible.

``starts`` chooses the graphs to begin with, ``flipping`` edits one until the model says another class,
``minimal_edits`` undoes what was not necessary. Each search is a generator that says what it wants to have asked;
``side_by_side`` asks for all of them at once. Go in by :mod:`dignn.goes_by.counterfactuals`.
"""
