"""FeatureBank: which generator each node type and relation gets, their training, and filling generated structures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dignn.core.devices import Device
from dignn.core.errors import DignnError, RunFolderError
from dignn.core.files import blamed_on, load_learned, put_under, save_tensors, under
from dignn.core.processes import map_processes
from dignn.core.progress import Tick, Together, part_of, silent
from dignn.core.seeds import Seed
from dignn.features.base import FeatureGenerator
from dignn.features.budget import training_shares
from dignn.features.conditions import DataConditions, condition_batch
from dignn.features.edge_drawing import check_numbers, draw_edges
from dignn.features.ends import training_edges
from dignn.features.few_rows import tell_of_few_rows
from dignn.features.generator_choice import GeneratorChoice
from dignn.features.given import Fixed
from dignn.features.neighbour_means import NeighbourMeans
from dignn.features.registry import FEATURE_GENERATORS
from dignn.features.reserve import Reserve
from dignn.features.row_generators import RowGenerators, members
from dignn.features.settings import FeatureSettings
from dignn.features.surroundings import Occasions, Seen, Surroundings
from dignn.features.table import Table
from dignn.features.training_rows import training_rows
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.schema import Schema

# Numbers in the tables from which a process of its own for each generator pays.
MANY_CELLS = 2_000_000
_FORMAT = "dignn.FeatureBank.4"


class FeatureBank:
    """Generates the features of whole graphs.

    Which generator a type gets is decided by ``settings.features`` and by what the type has (:class:`GeneratorChoice`);
    with ``ditabddpm`` and ``settings.continuous`` "auto", a type whose rows are the means of its neighbours' rows gets
    such means. Rows of learned types go by the class around a node and by what else is known of its surroundings
    (:mod:`dignn.features.surroundings`).

    Up to four generators learn for as long as their settings say, more of them share what four would take
    (:mod:`dignn.features.budget`).

    What edges carry is generated after the nodes, by a generator for each relation, given the class around both ends
    and their features.

    Args:
        schema: the data's schema.
        settings: which generators, and theirs.
        device: where they learn and sample, see :func:`dignn.core.devices.at_work`.
    """

    def __init__(self, schema: Schema, settings: FeatureSettings | None = None, *, device: Device = "auto") -> None:
        self.device = device
        self.schema, self.settings = schema, settings if settings is not None else FeatureSettings()
        self._choice = GeneratorChoice(self.settings)
        self._names = [name for name in schema.node_types if schema.spec(name).generated]
        self._means: dict[str, NeighbourMeans] = {}
        self._reserve_seed = Seed(0)
        self._reserves: dict[str, Reserve] = {}  # of types of which others are means
        self._few: dict[str, int] = {}  # rows of types that have too few to learn from
        self._surroundings: Surroundings | None = None  # what is known of nodes, where rows go by it
        self._rows = RowGenerators(schema)
        self._file: Path | None = None  # that they were loaded from

    # -- learning -------------------------------------------------------------------------------------

    def fit(
        self,
        data: Adjacency,
        learned: np.ndarray | None = None,
        graphs: GraphBatch | None = None,
        *,
        seed: Seed,
        tick: Tick = silent,
        workers: int | None = None,
        apart: bool = False,
    ) -> FeatureBank:
        """Learns from the feature rows of the data, each with the class around its node.

        Args:
            data: the data.
            learned: (n,) which nodes may be learned from; by default all.
            graphs: subgraphs of the data. With them a row counts as often as its node stands there, with the class
                around it in the subgraph, because that is what generated graphs are like, and once more by half with
                the class around it in the data, so that rows that stand nowhere are not lost; without, each row counts
                once, with the class around it in the data.
            seed: of everything that is drawn.
            tick: progress.
            workers: processes that learn side by side; the result does not depend on it.
            apart: whether nothing is learned in this process, because it has something else to do.
        """
        learned = np.ones(len(data.node_type), dtype=bool) if learned is None else learned
        around = DataConditions(data)
        jobs, self._few, self._surroundings = {}, {}, None
        self._set_means({}, seed)
        if graphs is not None and self.settings.features == "ditabddpm" and self.settings.continuous == "auto":
            found = {name: NeighbourMeans.find(data, graphs, name) for name in self._names}
            self._set_means({name: means for name, means in found.items() if means is not None}, seed.child("reserve"))
        occasions = None if graphs is None else self._seen_in(graphs, data, learned, seed.child("surroundings"))
        for name in self._names:
            if name in self._means:
                continue
            own = seed.child(name, "known")
            table = training_rows(data, learned, graphs, around, name, occasions, own)
            if table is None:  # a type that is nowhere is never generated, so it needs no features
                continue
            if self._choice.too_few(table):
                self._few[name] = len(table)
            kind = self._choice.of(table)
            table = table if kind.learns else replace(table, context=None)
            for label, rows in self._split(name, table, kind.learns):
                jobs[name, label] = self._new(kind), rows, seed.child(name, str(label))
        for name in self.schema.generated_edges:
            table = training_edges(data, learned, graphs, around, name, blind=self._blind_edges)
            if table is not None:
                jobs[name, None] = self._new(self._choice.of(table)), table, seed.child(name, "None")
        learning = [part for part, (generator, _, _) in jobs.items() if generator.learns]
        shares = training_shares([jobs[part][1].rows.numel() for part in learning])
        for part, share in zip(learning, shares, strict=True):
            jobs[part][0].effort = share
        # A control learns nothing: its rows need not be sent to a process and back.
        many = sum(rows.rows.numel() for generator, rows, _ in jobs.values() if generator.learns) >= MANY_CELLS
        order = sorted(jobs, key=lambda part: -jobs[part][1].rows.numel())
        together = Together(tick, len(jobs))
        fitted = map_processes(
            _fit_part,
            [jobs[part] for part in order],
            workers=workers if many or apart else 1,
            apart=apart,
            done=lambda number: together.add(1),
        )
        made = dict(zip(order, fitted, strict=True))
        self._rows, self._file = RowGenerators(self.schema, {part: made[part] for part in jobs}, True), None
        tell_of_few_rows(self._few, self.parts, self.schema.classes)
        tick(1, 1)
        return self

    def _seen_in(self, graphs: GraphBatch, data: Adjacency, learned: np.ndarray, seed: Seed) -> Occasions | None:
        """What is known of rows in graphs, where rows shall go by it."""
        if not self.settings.surroundings or self.settings.one_model_per_class or not self._choice.learns:
            return None
        number = data.numbers(graphs)
        may_be_seen = torch.from_numpy(learned[number.clip(0)] & (number >= 0))
        told = [name for name in graphs.tables if name not in self._means]  # a mean would tell what it is to follow
        self._surroundings = Surroundings.of(graphs, may_be_seen, told, seed)
        return self._surroundings.training(graphs, may_be_seen)

    def _set_means(self, means: dict[str, NeighbourMeans], seed: Seed) -> None:
        """Which types are means of others, and where rows of these come from that graphs leave out."""
        self._means, self._reserve_seed = means, seed
        sources = {each.source for each in means.values()}
        self._reserves = {source: Reserve(self.schema.spec(source).width, seed.child(source)) for source in sources}

    @property
    def parts(self) -> Mapping[tuple[str, int | None], FeatureGenerator]:
        """The generators, by node type (or the label of a relation), and by class where each has its own."""
        return self._rows.parts

    @property
    def learned(self) -> bool:
        """Whether there is anything to draw from."""
        return bool(self.parts or self._means)

    @property
    def learning_steps(self) -> int:
        """Steps of the generator that learns longest, of those that node types may get; 0 where none learns.

        With training by epochs a lower bound: one step in each.
        """
        names = [*self._names, *self.schema.generated_edges]
        possible = {each for name in names for each in self._choice.possible(self.schema.table_spec(name).kind)}
        return max((FEATURE_GENERATORS[each].build(self.settings).learning_steps for each in possible), default=0)

    def _new(self, kind: type[FeatureGenerator]) -> FeatureGenerator:
        generator = kind.build(self.settings)
        generator.device = self.device
        return generator

    def _split(self, name: str, table: Table, learns: bool) -> list[tuple[int | None, Table]]:
        """The tables that one generator each learns: all rows, or those of each class of the target type."""
        if not self.settings.one_model_per_class or not learns:
            return [(None, table)]
        blind = replace(table, condition=table.condition[:, :0])
        answered = self.schema.task.types(self.schema.node_types)[self.schema.type_index(name)]
        classes = range(self.schema.num_classes) if answered else ()
        found: list[tuple[int | None, Table]]
        found = [(label, blind[(table.condition[:, label] > 0).nonzero()[:, 0]]) for label in classes]
        return [(label, rows) for label, rows in found if len(rows)] or [(None, blind)]

    @property
    def report(self) -> dict[str, Any]:
        """By node type, what it is generated by and how learning went, as JSON takes it."""
        found: dict[str, Any] = {
            name: {"generator": "neighbour means", "of": means.source} for name, means in self._means.items()
        }
        for (name, label), generator in self.parts.items():
            about = {"generator": generator.name, **generator.report}
            if label is None:
                found[name] = about
            else:
                found.setdefault(name, {})[self.schema.classes[label]] = about
        return found

    # -- filling --------------------------------------------------------------------------------------

    def fill(self, batch: GraphBatch, *, seed: Seed, tick: Tick = silent) -> GraphBatch:
        """The same graphs with generated features; each node's follow the class around it and what neighbours have."""
        return self._draw(batch.without_features(), batch.mask, seed, tick)

    def draws_rows(self, name: str) -> bool:
        """Whether rows of a type are drawn one by one, so that columns of theirs can be fixed."""
        return self._rows.draws(name)

    def redraw(
        self, batch: GraphBatch, nodes: Tensor, *, seed: Seed, fixed: Mapping[str, Fixed] | None = None
    ) -> GraphBatch:
        """The same graphs with the features of some nodes generated anew, given the class around them and all others.

        Where rows are means of neighbours' rows, those beside a marked neighbour follow it: they become means of the
        neighbours that the graph now has and of the same others that it leaves out. Those that are marked themselves
        (and the few whose rows do not tell of how many neighbours they are the mean) get new others. A new member of
        an identity type is none that its graph already has. Edges of marked nodes get new rows, which go by the new
        features of their ends. All other rows stay as they are, bit for bit.

        Args:
            batch: graphs with features.
            nodes: (B, N) bool, which nodes; marks on padding and on types without generated features change nothing.
            seed: of what is drawn. What a node gets depends on the other marks too, as in :meth:`fill`.
            fixed: by node type, for each marked node of it, in order of graph and position, columns that come out
                exactly as given while the others are drawn given them.

        Returns:
            Graphs whose tables have one row for each node, however often they are drawn anew.

        Raises:
            DignnError: columns are fixed of rows that are not drawn one by one, or of another number of rows.
        """
        fixed = fixed or {}
        for name, given in fixed.items():
            self._check_fixed(name, given, int((nodes & (batch.node_type == self.schema.type_index(name))).sum()))
        return self._draw(batch, nodes, seed, silent, fixed)

    def _check_fixed(self, name: str, given: Fixed, marked: int) -> None:
        if not self.draws_rows(name):
            means = self._means.get(name)
            why = "none were learned" if means is None else f"they are means of rows of '{means.source}'"
            raise DignnError(f"Columns of '{name}' cannot be fixed, since {why}; fix columns of another type")
        if len(given.mask) != marked:
            raise DignnError(
                f"There are fixed columns for {len(given.mask)} nodes of '{name}', of which {marked} are marked; give "
                "a row for each marked node"
            )

    def _draw(
        self, batch: GraphBatch, nodes: Tensor, seed: Seed, tick: Tick, fixed: Mapping[str, Fixed] | None = None
    ) -> GraphBatch:
        """Generates the rows of the marked nodes (B, N), lets means beside them follow, and keeps all others."""
        around, fixed = condition_batch(batch), fixed or {}
        filled = batch
        seen = None if self._surroundings is None else self._surroundings.look(batch, around, batch.mask & ~nodes)
        order = self._names if seen is None else [name for name in seen.surroundings.order if name in self._names]
        # Means come last: they look at the rows of others.
        order = sorted(order, key=lambda name: name in self._means)
        for number, name in enumerate(order):
            here = batch.node_type == self.schema.type_index(name)
            part = part_of(tick, number, len(order))
            own = seed.child(name)
            means, marked = self._means.get(name), here & nodes
            kept = torch.empty(0) if torch.equal(marked, here) else batch.features(name)  # by graph and position
            if means is not None and len(kept):
                marked = marked | means.follow(batch, filled, nodes, kept)
            rows = torch.empty(0, self.schema.spec(name).width)
            if bool(marked.any()):
                with blamed_on(self._file):
                    if means is not None:
                        rows = means.fill(filled, around, partial(self._reserved, means.source), own, marked)
                    else:
                        rows = self._draw_nodes(name, marked, around, own, part, seen, fixed.get(name))
                    if self.schema.spec(name).kind is FeatureKind.IDENTITY and means is None:
                        taken = members(batch, name, here & ~marked)
                        self._rows.draw_again(rows, marked, around[marked], name, own, taken, fixed.get(name))
                    check_numbers(rows, name, self.schema.spec(name))
                if seen is not None and not self._goes_by_surroundings(name):  # the others were seen round by round
                    seen.add(name, marked, rows)
            if len(kept):
                kept[marked[here]] = rows
                rows = kept
            row = filled.row.masked_scatter(here, torch.arange(len(rows)))
            filled = replace(filled, row=row, tables={**filled.tables, name: rows})
            part(1, 1)
        return self._draw_edges(filled, nodes, around, seed)

    def _draw_nodes(
        self,
        name: str,
        nodes: Tensor,
        around: Tensor,
        seed: Seed,
        tick: Tick,
        seen: Seen | None,
        fixed: Fixed | None,
    ) -> Tensor:
        """Rows of the marked nodes (B, N) of a type, which go by what is seen of their neighbours.  (m, d)"""
        if seen is None or not self._goes_by_surroundings(name):
            return self._rows.draw(name, around[nodes], seed, tick, fixed=fixed)
        out = torch.empty(int(nodes.sum()), self.schema.spec(name).width)
        rounds = seen.surroundings.parts(seen.joined, nodes, name, seed)
        for number, some in enumerate(rounds):
            own, part = seed.child("round", number), part_of(tick, number, len(rounds))
            given = None if fixed is None else fixed[some[nodes]]
            rows = self._rows.draw(name, around[some], own, part, seen.context(name, some), given)
            seen.add(name, some, rows)
            out[some[nodes]] = rows
        return out

    def _goes_by_surroundings(self, name: str) -> bool:
        """Whether the rows of a type were learned with what is known of its nodes."""
        generator = self.parts.get((name, None))
        return self._surroundings is not None and generator is not None and generator.known > 0

    def fill_edges(self, batch: GraphBatch, *, seed: Seed) -> GraphBatch:
        """The same graphs, which have features of nodes, with generated features of edges."""
        return self._draw_edges(batch, batch.mask, condition_batch(batch), seed)

    @property
    def _blind_edges(self) -> bool:
        """Whether edges do not know of classes: where every class has generators of its own."""
        return self.settings.one_model_per_class and self._choice.learns

    def _draw_edges(self, batch: GraphBatch, nodes: Tensor, around: Tensor, seed: Seed) -> GraphBatch:
        """Generates the rows of the edges of marked nodes (B, N), and keeps all others."""
        for name in self.schema.generated_edges:
            with blamed_on(self._file):
                own = seed.child(name)
                batch = draw_edges(batch, name, nodes, around, self._rows.draw, own, blind=self._blind_edges)
        return batch

    def _reserved(self, name: str, condition: Tensor, seed: Seed) -> Tensor:
        """Rows of a type for nodes that graphs leave out."""
        return self._reserves[name].take(condition, seed, partial(self._rows.draw, name))

    # -- files ----------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Writes what was learned to a safetensors file."""
        tensors: dict[str, Tensor] = {}
        parts, means = [], []
        for number, ((name, label), generator) in enumerate(self.parts.items()):
            state, settings = generator.state()
            tensors |= put_under(f"part.{number}.", state)
            parts.append({"name": name, "label": label, "generator": generator.name, "settings": settings})
        for name, found in self._means.items():
            tensors |= {f"means.{name}.degree": found.degree, f"means.{name}.follows": found.follows}
            means.append({"name": name, "source": found.source})
        if self._surroundings is not None:
            tensors |= put_under("surroundings.", self._surroundings.state())
        reserve = [self._reserve_seed.root, *self._reserve_seed.path]
        told = {"parts": parts, "means": means, "surroundings": self._surroundings is not None, "reserve": reserve}
        metadata = json.dumps(told)
        save_tensors(path, tensors, {"format": _FORMAT, "metadata": metadata})

    def load(self, path: Path | str) -> FeatureBank:
        """Takes up what a bank of the same settings wrote with :meth:`save`, and returns itself."""

        def restore(tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
            known = {*self._names, *self.schema.generated_edges}
            if not {about["name"] for about in (*settings["parts"], *settings["means"])} <= known:
                raise RunFolderError(f"{path} holds features of other node types; choose another folder or delete it")
            fitted, means = {}, {}
            for number, about in enumerate(settings["parts"]):
                generator = self._new(FEATURE_GENERATORS[about["generator"]])
                spec = self.schema.table_spec(about["name"])
                generator.restore(under(f"part.{number}.", tensors), about["settings"], spec)
                fitted[about["name"], about["label"]] = generator
            for about in settings["means"]:
                name = about["name"]
                means[name] = NeighbourMeans(name, about["source"], **under(f"means.{name}.", tensors))
            root, *names = settings["reserve"]
            self._rows = RowGenerators(self.schema, fitted, True)
            self._set_means(means, Seed(int(root), tuple(map(str, names))))
            seen = under("surroundings.", tensors)
            self._surroundings = Surroundings.restored(seen, self.schema) if settings["surroundings"] else None

        load_learned(path, _FORMAT, restore)
        self._file = Path(path)
        return self


def _fit_part(generator: FeatureGenerator, table: Table, seed: Seed) -> FeatureGenerator:
    return generator.fit_table(table, seed=seed)
