"""What a model goes by, in words: predicates of what is classified, scorecards, rules, and their fidelity to the model.

Most of it takes graphs and what the model says of them (:class:`~dignn.model.scores.Scores`) and asks nothing.
``effects`` asks the model about pairs of graphs that differ in one predicate (``interventions``), which tells what acts
from what only goes with a class; ``finding_causes`` finds scorecards and rules without the latter. Counterfactual pairs
(``counterfactuals``, with what they need in ``contrasts``) ask it about edited graphs.
"""
