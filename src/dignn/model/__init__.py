"""The model to explain, as a function from small graphs to scores: adapter, scores, hooks. Knows no data set.

``adapter.GNNAdapter`` calls any PyTorch Geometric model or callable, and ``scores.Scores`` is what it says of a batch.
"""
