"""Steps 3 and 4: which candidates speak for a class: real members, rules of selection, ranking, motifs.

``ranking.Ranker`` knows the real graphs and ranks any set of candidates by any rule; no rule sees held-out graphs.
"""
