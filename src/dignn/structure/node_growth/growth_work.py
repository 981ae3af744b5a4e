"""How long node growth learns: a number of steps that follows from the data alone, never from the clock."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import fingerprints

# Steps at least, where there are as many in the settings.
LEAST_STEPS = 150
# What a step costs, about in milliseconds of a core: always, for every event, for every pair of an event and a node
# that it may see, and for every action at every pair. Found by a profile.
_STEP, _EVENT, _PAIR, _ACTION = 10.0, 0.03, 0.0012, 0.000006
# Such costs at most for every unit of effort.
_COST = 1250.0


@dataclass(frozen=True)
class Work:
    """What there is to learn, and what learning costs.

    Args:
        length: events of a mean graph: each is a chance to go wrong, so the longer, the surer all of them must be.
        distinct: events of all graphs of which no two are isomorphic.
        batch: events in a batch.
        cost: of a step.
    """

    length: float
    distinct: float
    batch: int
    cost: float

    @classmethod
    def of(cls, graphs: GraphBatch, actions: int, batch: int) -> Work:
        """The work of learning from graphs.

        Args:
            graphs: to learn from.
            actions: what can be decided at a node.
            batch: events in a batch.
        """
        lengths = 1 + graphs.undirected.sum((1, 2)).double() / 2
        mean = float(lengths.mean())
        pairs = batch * float((lengths * graphs.sizes).mean()) / mean  # a batch holds graphs of similar length
        cost = _STEP + _EVENT * batch + pairs * (_PAIR + _ACTION * actions)
        return cls(mean, mean * len(set(fingerprints(graphs))), batch, cost)

    def steps(self, effort: float, passes: float) -> int:
        """Gradient steps: so many for every event of a mean graph, within what there is to learn and what it costs.

        Args:
            effort: steps for every event of a mean graph.
            passes: over all different graphs, at most.
        """
        most = passes * self.distinct / self.batch
        return max(LEAST_STEPS, round(min(effort * self.length, most, effort * _COST / self.cost)))
