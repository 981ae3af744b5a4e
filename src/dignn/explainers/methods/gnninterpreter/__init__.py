"""GNNInterpreter: for each class, distributions of edges, types and features, learned by gradients of the model.

Wang and Shen, "GNNInterpreter: A Probabilistic Generative Model-Level Explanation for Graph Neural Networks", ICLR
2023.
"""
