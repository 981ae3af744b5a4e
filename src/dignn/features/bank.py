"""FeatureBank: which generator each node type gets, their training, and the filling of generated structures."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dignn.batch import GraphBatch
from dignn.config import PRESETS, Config
from dignn.errors import DignnError, RunFolderError
from dignn.features.base import FEATURE_GENERATORS, FeatureGenerator, under
from dignn.features.ditabddpm import SPARSE
from dignn.features.neighbour_means import NeighbourMeans
from dignn.features.table import Table, draw_line
from dignn.features.training_rows import training_rows
from dignn.neighbourhood import condition_batch, condition_data
from dignn.runtime.files import load_learned, save_tensors
from dignn.runtime.processes import map_processes
from dignn.runtime.progress import Tick, silent
from dignn.runtime.seeds import Seed
from dignn.sampling import Adjacency
from dignn.schema import FeatureKind, Schema

log = logging.getLogger(__name__)

# How often members that stand twice in one graph are drawn again; a graph may have more nodes than there are members.
REDRAWS = 50
# What becomes of rows that are too few to learn from, and how many classes that have so few a message names.
REPEATED, NAMED = "they are repeated as they are", 3
# Numbers in the tables from which a process of its own for each generator pays.
MANY_CELLS = 2_000_000
_FORMAT = "dignn.FeatureBank.1"


@dataclass(frozen=True, eq=False)
class Part:
    """A generator and what it serves: nodes of a type, or only those of one class."""

    name: str
    label: int | None
    generator: FeatureGenerator


class FeatureBank:
    """Generates the features of whole graphs.

    Which generator a type gets is decided by ``config.features`` and by what the type has:

    - an identity type (members told apart by a one-hot row) draws members as often as they occur near a class;
    - discrete features go to the named generator;
    - so do continuous ones if the generator is a control or ``tabddpm``. With ``ditabddpm`` and ``config.continuous``
      "auto", a type whose rows are the means of its neighbours' rows gets such means, sparse rows go to ``ditabddpm``
      and others to ``tabddpm``; with "tabddpm" all go there, as in the paper.

    Args:
        schema: the data's schema.
        method: name of the feature generator, for all types or by type; by default that of ``config``.
        config: settings.
    """

    def __init__(
        self, schema: Schema, method: str | Mapping[str, str] | None = None, config: Config | None = None
    ) -> None:
        self.schema, self.config = schema, config if config is not None else PRESETS["fast"]
        names = [name for name in schema.node_types if schema.spec(name).generated]
        method = self.config.features if method is None else method
        chosen = dict.fromkeys(names, method) if isinstance(method, str) else dict(method)
        for name in chosen:
            schema.type_index(name)  # raises on a type that does not exist
        missing = set(names) - set(chosen)
        if missing:
            raise DignnError(f"No feature generator was named for {', '.join(sorted(missing))}; name one for each type")
        for generator in chosen.values():
            FEATURE_GENERATORS[generator]  # raises on a generator that does not exist
        self._method = {name: chosen[name] for name in names}
        self._means: dict[str, NeighbourMeans] = {}
        self.parts: list[Part] = []

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
        around = condition_data(data)
        parts, jobs = [], []
        self._means = {}
        for name, method in self._method.items():
            table = training_rows(data, learned, graphs, around, name)
            if table is None:  # a type that is nowhere is never generated, so it needs no features
                continue
            means = self._find_means(data, graphs, name, method)
            if means is not None:
                self._means[name] = means
                continue
            generator = self._generator_for(table, method)
            for label, rows in self._split(name, table, generator):
                parts.append((name, label))
                jobs.append((FEATURE_GENERATORS[generator].build(self.config), rows, seed.child(name, str(label))))
        # A control learns nothing: its rows need not be sent to a process and back.
        many = sum(rows.rows.numel() for generator, rows, _ in jobs if generator.learns) >= MANY_CELLS
        order = sorted(range(len(jobs)), key=lambda number: -jobs[number][1].rows.numel())
        finished: list[int] = []

        def done(number: int) -> None:
            finished.append(number)
            tick(len(finished), len(jobs))

        fitted = map_processes(
            _fit_part,
            [jobs[number] for number in order],
            workers=workers if many or apart else 1,
            apart=apart,
            done=done,
        )
        by_number = dict(zip(order, fitted, strict=True))
        self.parts = [Part(*part, by_number[number]) for number, part in enumerate(parts)]
        self._tell_of_few_rows()
        tick(1, 1)
        return self

    def _find_means(self, data: Adjacency, graphs: GraphBatch | None, name: str, method: str) -> NeighbourMeans | None:
        if method != "ditabddpm" or self.config.continuous != "auto" or graphs is None:
            return None
        return NeighbourMeans.find(data, graphs, name)

    def _generator_for(self, table: Table, method: str) -> str:
        """Name of the generator that learns a table."""
        kind = table.spec.kind
        if not FEATURE_GENERATORS[method].learns:
            return method
        if kind is FeatureKind.IDENTITY:
            return "bootstrap"
        if kind is FeatureKind.CONTINUOUS and method == "ditabddpm":
            sparse = float((table.rows != 0).double().mean()) <= SPARSE
            return "ditabddpm" if sparse and self.config.continuous == "auto" else "tabddpm"
        return method

    def _split(self, name: str, table: Table, generator: str) -> list[tuple[int | None, Table]]:
        """The tables that one generator each learns: all rows, or those of each class of the target type."""
        if not self.config.one_model_per_class or not FEATURE_GENERATORS[generator].learns:
            return [(None, table)]
        if self.schema.target not in (None, name):
            return [(None, replace(table, condition=table.condition[:, :0]))]
        found: list[tuple[int | None, Table]] = []
        for label in range(self.schema.num_classes):
            rows = table[(table.condition[:, label] > 0).nonzero()[:, 0]]
            if len(rows):
                found.append((label, replace(rows, condition=rows.condition[:, :0])))
        return found or [(None, replace(table, condition=table.condition[:, :0]))]

    def _tell_of_few_rows(self) -> None:
        """One sentence for each type: data may have many small classes."""
        small: dict[str, dict[str, float]] = {}
        for part in self.parts:
            few = part.generator.report.get("few_rows", {})
            whole = few.get(str(part.generator.classes))  # the line of all rows
            if whole is not None and part.label is None:
                log.warning("The data has only %.0f feature rows of '%s' to learn from; %s", whole, part.name, REPEATED)
                continue
            for line, number in few.items():
                label = int(line) if part.label is None else part.label
                small.setdefault(part.name, {})[self.schema.classes[label]] = number
        for name, rows in small.items():
            if len(rows) == 1:
                only = next(iter(rows.items()))
                log.warning("Class '%s' has only %.0f feature rows of '%s' to learn from; %s", *only, name, REPEATED)
                continue
            named = ", ".join(f"'{each}': {number:.0f}" for each, number in list(rows.items())[:NAMED])
            more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
            what = "%d classes have few feature rows of '%s' to learn from (%s%s); %s"
            log.warning(what, len(rows), name, named, more, REPEATED)

    @property
    def report(self) -> dict[str, Any]:
        """By node type, what it is generated by and how learning went, as JSON takes it."""
        found: dict[str, Any] = {
            name: {"generator": "neighbour means", "of": means.source} for name, means in self._means.items()
        }
        for part in self.parts:
            about = {"generator": part.generator.name, **part.generator.report}
            if part.label is None:
                found[part.name] = about
            else:
                found.setdefault(part.name, {})[self.schema.classes[part.label]] = about
        return found

    # -- filling --------------------------------------------------------------------------------------

    def fill(self, batch: GraphBatch, *, seed: Seed, tick: Tick = silent) -> GraphBatch:
        """The same graphs with generated features; each node's follow the class around it."""
        return self._draw(batch.without_features(), batch.mask, seed, tick)

    def redraw(self, batch: GraphBatch, nodes: Tensor, *, seed: Seed) -> GraphBatch:
        """The same graphs with the features of some nodes generated anew, given the class around them.

        Where rows are means of neighbours' rows, those beside a marked neighbour follow it: they become means of the
        neighbours that the graph now has and of the same others that it leaves out. Those that are marked themselves
        (and the few whose rows do not tell of how many neighbours they are the mean) get new others. A new member of
        an identity type is none that its graph already has. All other rows stay as they are, bit for bit.

        Args:
            batch: graphs with features.
            nodes: (B, N) bool, which nodes; marks on padding and on types without generated features change nothing.
            seed: of what is drawn. What a node gets depends on the other marks too, as in :meth:`fill`.

        Returns:
            Graphs whose tables have one row for each node, however often they are drawn anew.
        """
        if nodes.shape != batch.node_type.shape or nodes.dtype != torch.bool:
            raise DignnError(
                f"Marks of nodes to draw anew are {nodes.dtype} of shape {tuple(nodes.shape)}; "
                f"give one bool for each node, shape {tuple(batch.node_type.shape)}"
            )
        return self._draw(batch, nodes, seed, silent)

    def _draw(self, batch: GraphBatch, nodes: Tensor, seed: Seed, tick: Tick) -> GraphBatch:
        """Generates the rows of the marked nodes (B, N), lets means beside them follow, and keeps all others."""
        around = condition_batch(batch)
        row, tables = batch.row.clone(), dict(batch.tables)
        # Means come last: they look at the rows of others.
        order = sorted(self._method, key=lambda name: name in self._means)
        for number, name in enumerate(order):
            here = batch.node_type == self.schema.type_index(name)
            part = _part(tick, number, len(order))
            own = seed.child(name)
            means, marked = self._means.get(name), here & nodes
            kept = torch.empty(0) if torch.equal(marked, here) else batch.features(name)  # by graph and position
            if means is not None and len(kept):
                marked = marked | means.follow(batch, tables, row, nodes, kept)
            rows = torch.empty(0, self.schema.spec(name).width)
            some = bool(marked.any())
            if some and means is not None:
                rows = means.fill(batch, tables, row, around, self._generate, own, nodes=marked)
            elif some:
                rows = self._generate(name, around[marked], own, part)
                if self.schema.spec(name).kind is FeatureKind.IDENTITY:
                    self._tell_apart(rows, marked, around[marked], name, own, _members(batch, name, here & ~marked))
            if len(kept):
                kept[marked[here]] = rows
                rows = kept
            tables[name] = rows
            row[here] = torch.arange(len(rows))
            part(1, 1)
        return replace(batch, row=row, tables=tables)

    def _generate(self, name: str, condition: Tensor, seed: Seed, tick: Tick = silent) -> Tensor:
        """Rows of a type for these conditions (m, 2 C)."""
        parts = [part for part in self.parts if part.name == name]
        if not parts:
            if self.parts or self._means:
                raise DignnError(f"The data has no feature rows of '{name}', so none can be generated; leave it out")
            raise DignnError(f"The features of '{name}' were not learned yet; call fit first")
        blind = condition[:, :0]
        if parts[0].label is None:
            generator = parts[0].generator
            return generator.sample(condition if generator.classes else blind, seed=seed, tick=tick)
        line = draw_line(condition, seed.child("class").torch())
        known = torch.tensor([part.label for part in parts])
        # A node without a class, or of a class without rows, takes any of the classes.
        lost = ~torch.isin(line, known)
        line[lost] = known[torch.randint(len(known), (int(lost.sum()),), generator=seed.child("lost").torch())]
        out = torch.empty(len(line), self.schema.spec(name).width)
        for number, part in enumerate(parts):
            mine = line == known[number]
            if bool(mine.any()):
                piece = _part(tick, number, len(parts))
                out[mine] = part.generator.sample(blind[mine], seed=seed.child("class", str(part.label)), tick=piece)
        return out

    def _tell_apart(
        self, table: Tensor, here: Tensor, condition: Tensor, name: str, seed: Seed, taken: set[tuple[int, int]]
    ) -> None:
        """Draws members anew, in place, where one stands twice in a graph; the data has each only once.

        ``taken``: graphs and the members that they have beside those in ``table``.
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
            table[twice] = self._generate(name, condition[twice], seed.child("again", attempt))

    # -- files ----------------------------------------------------------------------------------------

    def save(self, path: Path | str) -> None:
        """Writes what was learned to a safetensors file."""
        tensors: dict[str, Tensor] = {}
        parts, means = [], []
        for number, part in enumerate(self.parts):
            state, settings = part.generator.state()
            tensors |= {f"part.{number}.{name}": value for name, value in state.items()}
            parts.append(
                {"name": part.name, "label": part.label, "generator": part.generator.name, "settings": settings}
            )
        for name, found in self._means.items():
            tensors |= {f"means.{name}.degree": found.degree, f"means.{name}.follows": found.follows}
            means.append({"name": name, "source": found.source})
        metadata = json.dumps({"parts": parts, "means": means})
        save_tensors(path, tensors, {"format": _FORMAT, "metadata": metadata})

    def load(self, path: Path | str) -> FeatureBank:
        """Takes up what a bank of the same settings wrote with :meth:`save`, and returns itself."""

        def restore(tensors: dict[str, Tensor], settings: dict[str, Any]) -> None:
            if not {about["name"] for about in (*settings["parts"], *settings["means"])} <= self._method.keys():
                raise RunFolderError(f"{path} holds features of other node types; choose another folder or delete it")
            parts = []
            for number, about in enumerate(settings["parts"]):
                generator = FEATURE_GENERATORS[about["generator"]].build(self.config)
                spec = self.schema.spec(about["name"])
                generator.restore(under(tensors, f"part.{number}."), about["settings"], spec)
                parts.append(Part(about["name"], about["label"], generator))
            means = {}
            for about in settings["means"]:
                state = under(tensors, f"means.{about['name']}.")
                means[about["name"]] = NeighbourMeans(about["name"], about["source"], state["degree"], state["follows"])
            self.parts, self._means = parts, means

        load_learned(path, _FORMAT, restore)
        return self


def _members(batch: GraphBatch, name: str, nodes: Tensor) -> set[tuple[int, int]]:
    """(graph, member) of the marked nodes (B, N) of an identity type."""
    if not bool(nodes.any()):
        return set()
    member = batch.tables[name][batch.row[nodes]].argmax(1)
    return set(zip(nodes.nonzero()[:, 0].tolist(), member.tolist(), strict=True))


def _fit_part(generator: FeatureGenerator, table: Table, seed: Seed) -> FeatureGenerator:
    return generator.fit(table.rows, table.condition, table.spec, weight=table.weight, seed=seed)


def _part(tick: Tick, number: int, count: int) -> Tick:
    """Progress of one of ``count`` equal parts as progress of the whole."""
    return lambda done, total: tick(1000 * number + 1000 * done // max(total, 1), 1000 * count)
