"""A graph neural network that answers by a rule: message passing counts the clues, a last layer reads the margin."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import SimpleConv

from dignn.graphs.schema import EdgeType, Schema
from dignn.zoo.known.clues import Clue, reverse
from dignn.zoo.known.rules import Rule

# Log-odds are between minus and plus this: of one clue that is there once, for example, 3.3, a probability of 0.96.
STRENGTH = 8.0


class RuleModel(nn.Module):
    """Two classes, the second where the rule holds; its log-odds grow with the rule's margin up to :data:`STRENGTH`.

    Layers are PyTorch Geometric's, so that messages can be weighted and hooked as in any other model. The last layer's
    input holds the margin and, with weight 0, the amounts of the clues: the embedding of a node tells what is around
    it, as in a trained model.

    Args:
        rule: the rule.
        schema: of the data.
    """

    def __init__(self, rule: Rule, schema: Schema) -> None:
        super().__init__()
        self.rule, self.target = rule, str(schema.target)
        self.columns = {clue: _column(clue, schema) for clue in rule.clues}
        self.step = SimpleConv(aggr="sum")
        self.read = nn.Linear(1 + len(rule.clues), 2, bias=False)
        with torch.no_grad():
            self.read.weight.zero_()
            self.read.weight[:, 0] = torch.tensor([-STRENGTH / 2, STRENGTH / 2])
        self.requires_grad_(False)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[EdgeType, Tensor]) -> Tensor:
        """Raw scores of the target nodes.  (n, 2)"""
        amounts = {clue: self._amount(clue, x_dict, edge_index_dict) for clue in self.rule.clues}
        hidden = torch.stack([self.rule.margin(amounts.__getitem__), *amounts.values()], dim=1)
        return self.read(hidden / (1 + hidden**2).sqrt())

    def _amount(self, clue: Clue, x: dict[str, Tensor], edges: dict[EdgeType, Tensor]) -> Tensor:
        """What there is of a clue around each target node: messages from the ends of walks to their starts.  (n,)"""
        end = x[clue.path[-1][2] if clue.path else self.target]
        column = self.columns[clue]
        if clue.closed:  # a message of its own for each target node, to see which come home
            message = torch.eye(len(end), dtype=end.dtype, device=end.device)
        else:
            message = torch.ones_like(end[:, :1]) if column is None else end[:, [column]]
        for step in reversed(clue.path):
            message = self.step((message, x[step[0]]), edges[reverse(step)])  # sums over what the step leads to
        return message.diagonal() if clue.closed else message[:, 0]


def _column(clue: Clue, schema: Schema) -> int | None:
    spec = schema.spec(clue.path[-1][2] if clue.path else str(schema.target))
    names = [spec.column_name(j) for j in range(spec.width)]
    return None if clue.column is None else names.index(clue.column)
