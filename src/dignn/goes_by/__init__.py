"""What a model goes by, in words: predicates of what is classified, scorecards, rules, and their fidelity to the model.

Nothing here asks the model. It takes graphs and what the model says of them (:class:`~dignn.model.scores.Scores`).
"""
