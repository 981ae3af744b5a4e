"""The generators of a bank side by side: rows of any type for given conditions, whichever of them draws these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dignn.core.errors import DignnError
from dignn.core.progress import Tick, part_of, silent
from dignn.core.seeds import Seed
from dignn.features.base import FeatureGenerator
from dignn.features.given import Fixed
from dignn.features.table import draw_label
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Schema

# How often members that stand twice in one graph are drawn again; a graph may have more nodes than there are members.
REDRAWS = 50


@dataclass(frozen=True)
class RowGenerators:
    """Generators of rows.

    Args:
        schema: the data's schema.
        parts: by node type (or the label of a relation), and by class where each has its own, else None.
        learned: whether anything was learned, be it that no generator was needed.
    """

    schema: Schema
    parts: Mapping[tuple[str, int | None], FeatureGenerator] = field(default_factory=dict)
    learned: bool = False

    def draws(self, name: str) -> bool:
        """Whether there is a generator of a type."""
        return any(of == name for of, _ in self.parts)

    def draw(
        self,
        name: str,
        condition: Tensor,
        seed: Seed,
        tick: Tick = silent,
        context: Tensor | None = None,
        fixed: Fixed | None = None,
    ) -> Tensor:
        """(m, d) rows of a type, or of the edges of a relation, for these conditions (m, 2 C).

        Args:
            name: of the type, or the relation's label.
            condition: the class around each.
            seed: of what is drawn.
            tick: progress.
            context: what else is known of each.
            fixed: columns that come out as given.

        Raises:
            DignnError: there is no generator of it.
        """
        own = {label: generator for (of, label), generator in self.parts.items() if of == name}
        if not own:
            if self.learned:
                raise DignnError(f"The data has no feature rows of '{name}', so none can be generated; leave it out")
            raise DignnError(f"The features of '{name}' were not learned yet; call fit first")
        blind = condition[:, :0]
        if None in own:
            generator = own[None]
            condition = condition if generator.classes else blind
            if context is None and generator.known:  # nothing is
                context = torch.full((len(condition), generator.known), torch.nan)
            return generator.sample(condition, context=context, fixed=fixed, seed=seed, tick=tick)
        label = draw_label(condition, seed.child("class").torch())
        known = torch.tensor(list(own))
        # A node without a class, or of a class without rows, takes any of the classes.
        lost = ~torch.isin(label, known)
        label[lost] = known[torch.randint(len(known), (int(lost.sum()),), generator=seed.child("lost").torch())]
        out = torch.empty(len(label), self.schema.spec(name).width)
        for number, (of, generator) in enumerate(own.items()):
            mine = label == known[number]
            if bool(mine.any()):
                piece = part_of(tick, number, len(own))
                given = None if fixed is None else fixed[mine]
                out[mine] = generator.sample(blind[mine], fixed=given, seed=seed.child("class", str(of)), tick=piece)
        return out

    def draw_again(
        self,
        table: Tensor,
        here: Tensor,
        condition: Tensor,
        name: str,
        seed: Seed,
        taken: set[tuple[int, int]],
        fixed: Fixed | None,
    ) -> None:
        """Draws members anew, in place, where one stands twice in a graph; the data has each only once.

        Args:
            table: (m, d) the members of an identity type that were drawn.
            here: (B, N) bool, their nodes.
            condition: (m, 2 C) as for :meth:`draw`.
            name: of the type.
            seed: of what is drawn.
            taken: graphs and the members that they have beside those in ``table``.
            fixed: columns that come out as given.
        """
        graph = here.nonzero()[:, 0]
        for attempt in range(REDRAWS):
            seen = set(taken)
            twice = []
            for number, pair in enumerate(zip(graph.tolist(), table.argmax(1).tolist(), strict=True)):
                if pair in seen:
                    twice.append(number)
                seen.add(pair)
            if not twice:
                return
            given = None if fixed is None else fixed[torch.tensor(twice)]
            table[twice] = self.draw(name, condition[twice], seed.child("again", attempt), fixed=given)


def members(batch: GraphBatch, name: str, nodes: Tensor) -> set[tuple[int, int]]:
    """(graph, member) of the marked nodes (B, N) of an identity type."""
    if not bool(nodes.any()):
        return set()
    member = batch.tables[name][batch.row[nodes]].argmax(1)
    return set(zip(nodes.nonzero()[:, 0].tolist(), member.tolist(), strict=True))
