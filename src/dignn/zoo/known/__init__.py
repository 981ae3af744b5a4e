"""Known models: hand-written models whose rule is exact, on data with decoys, by which explainers can be judged.

A rule is made of clues, what can be counted around a node (``clues``, ``rules``). ``rule_model`` answers by it with
message passing, ``walks`` by walking through the graph, and neither knows the other. ``registry`` has all known models,
``known_scores`` judges explanations of one.
"""
