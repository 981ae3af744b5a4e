"""What explanations are seen against: some real and some generated graphs, and how real features are distributed.

A report needs this beside the explanations themselves. It is kept in the run folder, so that a report can be written
again without the data and the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from torch import Tensor

from dignn.core.errors import RunFolderError
from dignn.core.files import load_tensors, put_under, save_tensors, under
from dignn.features.conditions import DataConditions, class_of_condition
from dignn.features.training_rows import some_nodes
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.feature_spec import ColumnKind, FeatureSpec
from dignn.graphs.schema import Schema
from dignn.report.charts.densities import Density

REFERENCE_FORMAT = "dignn.Backdrop.1"
# Real graphs, and generated ones, that a report shows.
SHOWN = 24
# Bins of a density.
DENSITY_BINS = 48
# Types with more continuous columns than this have a density of all values, and none of single columns.
DENSITY_COLUMNS = 128
# Densities reach from this share of the values to that one: a few far values would leave no room for the others.
_QUANTILES = (0.002, 0.998)
# Values, and nodes, from which a density is taken: more would hardly change it.
_MOST_VALUES, _MOST_ROWS, _LEAST_ROWS = 1_000_000, 50_000, 2_000
# Rows that are looked at together: bounds memory.
_BLOCK = 2048


@dataclass(frozen=True)
class Profile:
    """Features of the real nodes of one type, class by class. C classes, d columns.

    A target node counts for its class, any other for the classes around it (:mod:`dignn.features.conditions`).

    Args:
        weight: (C + 1,) number of nodes that count for each class; the last entry is all nodes of the type.
        mean: (C + 1, d) mean of every column; 0 for a class that no node counts for.
        present: (C + 1, d) share of nodes whose value in the column is there and not 0.
        bounds: (k + 1, bins + 1) bounds of the bins of continuous values: first of all columns together, then of each
            column (k is d, or 0 where there are more than :data:`DENSITY_COLUMNS`). None for discrete types.
        share: (C + 1, k + 1, bins) share of the values in each bin; what lies beyond the bounds is in none.
        numeric: (k,) where columns differ, which of them the bins are of; there is nothing of all together.
        missing: (C + 1, d) where columns differ, share of nodes whose value is missing; means are of the others.
    """

    weight: Tensor
    mean: Tensor
    present: Tensor
    bounds: Tensor | None = None
    share: Tensor | None = None
    numeric: Tensor | None = None
    missing: Tensor | None = None

    def density(self, line: int, column: int | None = None, name: str = "real class") -> Density | None:
        """Of a column, or of all together, in the class of this number (-1 for all); None for discrete types."""
        if self.bounds is None or self.share is None:
            return None
        place = 0 if column is None else 1 + column
        if self.numeric is not None:
            known = self.numeric.tolist()
            if column not in known:
                return None
            place = 1 + known.index(column)
        mean = self.mean[line].mean() if column is None else self.mean[line, column]
        return Density(self.bounds[place].tolist(), self.share[line, place].tolist(), float(mean), name)


@dataclass(frozen=True)
class Reference:
    """What a reader compares explanations with.

    Args:
        real: some real graphs that nothing was learned from, with features.
        generated: some valid candidates, with features, evenly spread over the sizes and not chosen by anything else.
        profiles: by node type, for types with features.
    """

    real: GraphBatch
    generated: GraphBatch
    profiles: dict[str, Profile]

    @classmethod
    def gather(cls, data: Adjacency, held_out: GraphBatch, candidates: GraphBatch) -> Reference:
        """Takes some of the graphs, and the profiles of all real nodes."""
        real, generated = (graphs[spread(len(graphs), SHOWN)] for graphs in (held_out, candidates))
        return cls(real, generated, profiles(data))

    def save(self, path: Path | str) -> None:
        """Writes a safetensors file."""
        tensors = put_under("real.", self.real.packed()) | put_under("generated.", self.generated.packed())
        for name, profile in self.profiles.items():
            place = self.real.schema.type_index(name)
            parts = {item.name: getattr(profile, item.name) for item in fields(profile)}
            tensors |= put_under(f"profile.{place}.", {key: value for key, value in parts.items() if value is not None})
        save_tensors(path, tensors, {"format": REFERENCE_FORMAT, "schema": self.real.schema.to_json()})

    @classmethod
    def load(cls, path: Path | str) -> Reference:
        """Reads what :meth:`save` wrote.

        Raises:
            RunFolderError: the file is damaged, or of another version.
        """
        tensors, metadata = load_tensors(path, REFERENCE_FORMAT)
        try:
            schema = Schema.from_json(metadata["schema"])
            types = {str(place): name for place, name in enumerate(schema.node_types)}
            known = {key.split(".")[0] for key in under("profile.", tensors)}
            if not known <= types.keys():
                raise ValueError("it holds profiles of node types that there are not")
            return cls(
                real=GraphBatch.unpacked(schema, under("real.", tensors)),
                generated=GraphBatch.unpacked(schema, under("generated.", tensors)),
                profiles={
                    name: _profile(under(f"profile.{place}.", tensors), schema, name)
                    for place, name in types.items()
                    if place in known
                },
            )
        except (KeyError, TypeError, IndexError, RuntimeError, ValueError) as error:
            raise RunFolderError(f"{path} is damaged ({error}); delete it and run again") from error


def profiles(data: Adjacency) -> dict[str, Profile]:
    """By node type how the features of real nodes are distributed, for types that have some; of many nodes some."""
    around = DataConditions(data)
    found = {}
    for name, table in data.tables.items():
        nodes = some_nodes(data, name)
        if len(nodes):
            rows, near = table[torch.from_numpy(data.row[nodes])], class_of_condition(around.of(nodes)).double()
            found[name] = _distribution(rows, near, data.schema.spec(name))
    return found


def _distribution(rows: Tensor, around: Tensor, spec: FeatureSpec) -> Profile:
    """Of the rows (n, d) of nodes with the classes around them (n, C)."""
    if spec.columns is not None:
        return _mixed_distribution(rows, around, spec)
    counts = torch.cat([around, torch.ones(len(around), 1, dtype=around.dtype)], dim=1)  # (n, C + 1)
    weight = counts.sum(0)
    mean, present = (torch.zeros(counts.size(1), rows.size(1), dtype=torch.double) for _ in range(2))
    for some, of in zip(rows.split(_BLOCK), counts.split(_BLOCK), strict=True):
        mean += of.T @ some.double()
        present += of.T @ (some != 0).double()
    total = weight.clamp_min(torch.finfo(torch.float32).tiny)[:, None]
    found = Profile(weight.float(), (mean / total).float(), (present / total).float())
    if spec.kind.discrete:
        return found
    width = rows.size(1)
    # All columns together: fewer nodes give as many values.
    pieces = [(rows, spread(len(rows), max(_LEAST_ROWS, _MOST_VALUES // width)))]
    if width <= DENSITY_COLUMNS:
        some = spread(len(rows), _MOST_ROWS)
        pieces += [(rows[:, [column]], some) for column in range(width)]
    bounds = torch.stack([_bounds(values[some]) for values, some in pieces])
    share = torch.stack(
        [_shares(values[some], counts[some], limits) for (values, some), limits in zip(pieces, bounds, strict=True)],
        dim=1,
    )
    return replace(found, bounds=bounds, share=share)


def _mixed_distribution(rows: Tensor, around: Tensor, spec: FeatureSpec) -> Profile:
    """The same of columns that differ."""
    counts = torch.cat([around, torch.ones(len(around), 1, dtype=around.dtype)], dim=1)  # (n, C + 1)
    least = torch.finfo(torch.float32).tiny
    weight, absent = counts.sum(0), rows.isnan()
    lost = counts.T @ absent.double()  # (C + 1, d)
    total = weight.clamp_min(least)[:, None]
    mean = counts.T @ rows.nan_to_num(0.0).double() / (weight[:, None] - lost).clamp_min(least)
    present = counts.T @ ((rows != 0) & ~absent).double() / total
    found = Profile(weight.float(), mean.float(), present.float(), missing=(lost / total).float())
    numeric = spec.of_kind(ColumnKind.CONTINUOUS, ColumnKind.DATE)[:DENSITY_COLUMNS]
    if not numeric:
        return found
    bounds, share = [torch.linspace(0, 1, DENSITY_BINS + 1)], [torch.zeros(counts.size(1), DENSITY_BINS)]
    for column in numeric:
        there = (~absent[:, column]).nonzero()[:, 0]
        there = there[spread(len(there), _MOST_ROWS)]
        values = rows[there][:, [column]] if len(there) else torch.zeros(1, 1)
        bounds.append(_bounds(values))
        share.append(_shares(values, counts[there] if len(there) else counts[:1] * 0, bounds[-1]))
    return replace(found, bounds=torch.stack(bounds), share=torch.stack(share, dim=1), numeric=torch.tensor(numeric))


def _bounds(values: Tensor) -> Tensor:
    """(bins + 1,) equal steps that hold nearly all values."""
    some = values.reshape(-1).double().sort().values
    low, high = (float(some[round(quantile * (len(some) - 1))]) for quantile in _QUANTILES)
    if high <= low:  # one value, or nearly
        low, high = float(some[0]), float(some[-1])
    if high <= low:
        low, high = low - 0.5, high + 0.5
    return torch.linspace(low, high, DENSITY_BINS + 1, dtype=torch.float32)


def _shares(values: Tensor, counts: Tensor, bounds: Tensor) -> Tensor:
    """(C + 1, bins) share of the values (n, d) in each bin, where node i counts ``counts[i]`` for each class."""
    found = torch.zeros(DENSITY_BINS, counts.size(1), dtype=torch.double)
    for some, of in zip(values.split(_BLOCK), counts.split(_BLOCK), strict=True):
        number = torch.bucketize(some.contiguous(), bounds, right=True) - 1  # (b, d)
        number[some == bounds[-1]] = DENSITY_BINS - 1
        inside = (number >= 0) & (number < DENSITY_BINS)
        cell = torch.arange(len(some))[:, None] * DENSITY_BINS + number
        held = torch.bincount(cell[inside], minlength=len(some) * DENSITY_BINS)  # values of each node in each bin
        found += held.view(len(some), DENSITY_BINS).double().T @ of
    total = counts.sum(0).clamp_min(torch.finfo(torch.float32).tiny) * values.size(1)
    return (found / total).T.float()


def _profile(tensors: Mapping[str, Tensor], schema: Schema, name: str) -> Profile:
    """The profile of a node type."""
    classes, columns, spec = schema.num_classes + 1, schema.spec(name).width, schema.spec(name)
    discrete = {"weight": (classes,), "mean": (classes, columns), "present": (classes, columns)}
    continuous = [
        {**discrete, "bounds": (rows, DENSITY_BINS + 1), "share": (classes, rows, DENSITY_BINS)}
        for rows in (1, columns + 1)
    ]
    known = [discrete, *continuous]
    if spec.columns is not None:
        rows = min(DENSITY_COLUMNS, len(spec.of_kind(ColumnKind.CONTINUOUS, ColumnKind.DATE)))
        bins = {"bounds": (rows + 1, DENSITY_BINS + 1), "share": (classes, rows + 1, DENSITY_BINS), "numeric": (rows,)}
        known = [{**discrete, "missing": (classes, columns), **(bins if rows else {})}]
    if {part: tuple(value.shape) for part, value in tensors.items()} not in known:
        raise RunFolderError(f"the profile of '{name}' has another shape")
    return Profile(**tensors)
