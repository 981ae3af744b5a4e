"""The paper's explainer: graphs from generators that learned structure and features from the model's data.

Beside the paper: ``refinement`` of features, on by default, and guidance of structure by the model (``class_guide``).
"""
