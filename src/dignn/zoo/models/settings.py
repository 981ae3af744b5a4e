"""Settings of models that are trained here. Loads nothing heavy."""

from __future__ import annotations

from typing import Literal

# Which model of a data set: what we recommend to explain, what the paper describes, or the paper's GCN of a
# heterogeneous graph that was converted to one kind of node.
Form = Literal["strong", "paper", "gcn"]
