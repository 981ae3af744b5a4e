"""Step 2: generators of node features, found by name in ``registry.FEATURE_GENERATORS``.

A ``bank.FeatureBank`` decides which generator each node type gets, fits them and fills generated structures.
"""
