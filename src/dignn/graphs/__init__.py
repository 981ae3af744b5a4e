"""What graphs are: the schema and its task, batches of small graphs, conversions from and to PyTorch Geometric.

Also what can be asked of graphs alone: adjacency, isomorphism, validity, plain graphs and motifs.
"""
