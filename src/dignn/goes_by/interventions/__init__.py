"""Interventions: pairs of graphs that are alike but for a predicate, which is true of one and false of the other.

``setting_columns`` makes them by setting columns to ``column_values``, ``cutting`` by taking nodes and edges away;
where neither can be done, ``matched_pairs`` finds graphs that are alike. ``sources`` chooses what pairs are made of.
"""
