"""Fewer feature columns: the k of each node type that vary most, or that are not 0 most often.

A selection makes a new data set, so the model to explain and the feature generators see the very same columns, and
every column keeps its name. It looks at all rows and at no label. The paper selects 2, 4, 8 and 50 columns of DBLP
and 2, 5, 10 and all columns of IMDB, by variance (its feature selection experiments) and by frequency (its appendix
"Feature Selection by Frequency").
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import get_args

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from dignn.core.errors import DignnError
from dignn.graphs.column_checks import check_rows
from dignn.graphs.feature_matrix import dense
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.flattening import flatten_for
from dignn.graphs.schema import Schema
from dignn.zoo.datasets.column_counts import By, column_count
from dignn.zoo.datasets.dataset import Dataset

BY: tuple[By, ...] = get_args(By)

ROWS_AT_ONCE = 1024  # rows
QUOTES = "'`\""  # a tokeniser's 's is a single letter


def select_columns(
    dataset: Dataset, columns: Mapping[str, int | str], *, by: By = "variance", words_only: bool = False
) -> Dataset:
    """The same data set with fewer feature columns; the given one stays as it is.

    Chosen columns keep their order, names, kind and levels; of equally good columns the first ones are chosen. Types
    that are not named keep all columns. ``Dataset.columns`` of the result tells what was chosen.

    Args:
        dataset: any, also one that has been through here before.
        columns: by node type, how many columns to keep; or the name of another type of ``columns``, to keep the very
            columns that are chosen for that one: ``{"movie": 10, "director": "movie"}``. The only type of a ``Data``
            is called ``node``.
        by: ``variance``: columns with the largest variance over all rows, those that a variance threshold would keep
            that leaves so many; ``frequency``: columns with the most entries that are not 0. Codes of a categorical
            type count as numbers.
        words_only: choose only among columns that :func:`is_word`.

    Raises:
        DignnError: if a type is unknown, has no columns to choose from, or has fewer than asked for.
    """
    if by not in BY:
        raise DignnError(f"Columns cannot be chosen by '{by}'; choose from {', '.join(BY)}")
    schema = dataset.schema
    leaders = {name: _leader(name, columns, schema) for name in columns}
    tables = {name: x if x is None else dense(x) for name, x in flatten_for(dataset.data, schema).x.items()}
    best: dict[str, list[int]] = {}
    for name in dict.fromkeys(leaders.values()):
        table, count = tables[name], column_count(name, columns[name])
        assert table is not None  # a type without columns has no leader
        check_rows(table, schema.spec(name), name)
        candidates = _candidates(name, schema.spec(name), count, words_only)
        merit = _variance(table, schema.spec(name).kind) if by == "variance" else (table != 0).sum(0)
        ranked = merit[candidates].argsort(descending=True, stable=True)  # stable: the first of equals
        best[name] = sorted(candidates[place] for place in ranked[:count].tolist())
    return with_columns(dataset, {name: best[leader] for name, leader in leaders.items()})


def is_word(name: str) -> bool:
    """Whether a column's name is a word: no punctuation, number, single letter or English stop word.

    The stop words are those of scikit-learn.
    """
    word = name.strip(QUOTES).lower()
    return len(word) > 1 and any(letter.isalpha() for letter in word) and word not in _stop_words()


@cache
def _stop_words() -> frozenset[str]:
    # Imported late: it takes a second, and few uses of the library get here.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


# -- what is asked for --------------------------------------------------------------------------------


def _leader(name: str, columns: Mapping[str, int | str], schema: Schema) -> str:
    """The type whose table decides about the columns of ``name``: itself, or the type that it follows."""
    _selectable(name, schema.spec(name))
    value = columns[name]
    if not isinstance(value, str):
        column_count(name, value)
        return name
    try:
        spec, other = schema.spec(name), schema.spec(value)
    except DignnError as error:
        raise DignnError(f"{error}, or give the number of columns of '{name}'") from None
    _selectable(value, other)
    if value == name or not isinstance(columns.get(value), int):
        raise DignnError(f"'{name}' takes the columns of '{value}', so say how many columns '{value}' has")
    if spec.width != other.width:
        raise DignnError(
            f"'{name}' has {spec.width} columns and '{value}' has {other.width}, so they cannot have the same; "
            "give a number for each"
        )
    if spec.names is not None and other.names is not None and spec.names != other.names:
        raise DignnError(f"The columns of '{name}' and '{value}' have different names; give a number for each")
    return value


def _selectable(name: str, spec: FeatureSpec) -> None:
    if spec.kind is FeatureKind.NONE:
        raise DignnError(f"Node type '{name}' has no features to choose columns from; leave it out")
    if spec.kind is FeatureKind.IDENTITY:
        raise DignnError(
            f"The columns of node type '{name}' tell its members apart, so all of them are needed; leave it out"
        )


def _candidates(name: str, spec: FeatureSpec, count: int, words_only: bool) -> list[int]:
    """Numbers of the columns to choose ``count`` from."""
    if not words_only:
        if count > spec.width:
            raise DignnError(f"Node type '{name}' has {spec.width} feature columns, not {count}; choose fewer")
        return list(range(spec.width))
    if spec.names is None:
        raise DignnError(f"The columns of '{name}' have no names, so nobody knows which are words; choose among all")
    words = [number for number, text in enumerate(spec.names) if is_word(text)]
    if count > len(words):
        raise DignnError(
            f"Only {len(words)} of the {spec.width} feature columns of '{name}' are words, not {count}; choose fewer"
        )
    return words


# -- what is chosen -----------------------------------------------------------------------------------


def _variance(table: Tensor, kind: FeatureKind) -> Tensor:
    """Variance of each column, times n^2 for whole numbers.  (n, d) -> (d,)"""

    def total(term: Callable[[Tensor], Tensor]) -> Tensor:
        # Not all rows at once: in double precision a wide table would take a gigabyte.
        parts = (term(part.double()).sum(0) for part in table.split(ROWS_AT_ONCE))
        return sum(parts, torch.zeros(table.size(1), dtype=torch.float64))

    rows, once = len(table), total(lambda part: part)
    if kind.discrete:  # sums of whole numbers have no rounding error, so columns that tie do tie
        return rows * total(torch.square) - once.square()
    return total(lambda part: (part - once / rows).square()) / rows


def with_columns(dataset: Dataset, chosen: dict[str, list[int]]) -> Dataset:
    """The data set with only these columns of these types."""
    schema, columns = dataset.schema, dict(dataset.columns)
    for name, numbers in chosen.items():
        if len(numbers) < schema.spec(name).width:  # all columns: nothing was chosen
            before = dataset.columns.get(name, tuple(range(schema.spec(name).width)))
            columns[name] = tuple(before[number] for number in numbers)
    features = tuple(
        replace(spec.only(chosen[name]), layout="strided", vector=False) if name in chosen else spec
        for name, spec in zip(schema.node_types, schema.features, strict=True)
    )
    data = dataset.data
    return replace(
        dataset,
        data=[_cut(graph, chosen) for graph in data] if isinstance(data, list) else _cut(data, chosen),
        schema=replace(schema, features=features),
        columns={name: columns[name] for name in schema.node_types if name in columns},
    )


def _cut(graph: Data | HeteroData, chosen: dict[str, list[int]]) -> Data | HeteroData:
    """A graph that shares everything with ``graph`` but the narrower feature matrices."""
    made = copy.copy(graph)
    for name, numbers in chosen.items():
        store = made[name] if isinstance(made, HeteroData) else made
        x = store.x.to_dense() if store.x.layout is not torch.strided else store.x
        store.x = x.reshape(len(x), -1)[:, numbers]
    return made
