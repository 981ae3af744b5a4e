"""GraphVAE: a variational autoencoder of whole graphs that decodes structure and features jointly (a rival).

``explainer`` is what the walk calls, ``generator`` learns and decodes, ``graph_encoder`` and ``graph_decoder`` are its
two networks, ``row_codes`` say how rows of features go in and come out, ``canonical_order`` puts nodes in order.
"""
