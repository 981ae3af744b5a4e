"""XGNN (Yuan et al., KDD 2020): for each class a policy that builds graphs edge by edge and is rewarded by the model.

``building`` says what may be joined, ``policy`` decides, ``policy_walks`` has it build graphs, and ``policy_training``
rewards it.
"""
