"""What a model goes by, in words: predicates of what is classified, scorecards, rules, and their fidelity to the model.

Scorecards and rules take graphs and what the model says of them (:class:`~dignn.model.scores.Scores`), and ask nothing.
Counterfactual pairs (``counterfactuals``, with what they need in ``contrasts``) ask the model about edited graphs.
"""
