"""Models to explain: architectures, recipes, training, checkpoints; ``checkpoint.trained_model`` is the way in.

Each data set has two forms of model: the paper's, and a strong one that is right on small graphs too; heterogeneous
ones have a third, the paper's GCN of the graph converted to one kind of node.
"""
