"""Reads off a feature matrix what its columns hold: one kind for all where they are alike, else one for each."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from dignn.core.errors import SchemaError
from dignn.graphs.column_contents import TELLING_ROWS, Contents, one_hot_groups
from dignn.graphs.column_kinds import Kinds, Said, column_names, said_columns
from dignn.graphs.column_table import ColumnTable, check_said, columns_of
from dignn.graphs.feature_matrix import FeatureForm
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec

log = logging.getLogger(__name__)

# Whole numbers above this are measurements (a year, a price) rather than counts.
MAX_COUNT = 255
# Beside continuous columns, whole numbers of more different values than this are measurements, too.
MAX_LEVELS = 64
# Where more than this share of the numbers beside fractions is whole, a column must have so many to be told apart.
WHOLE_SHARE, ENOUGH_WHOLE = 0.01, 50


def infer_features(
    x: Tensor | None,
    node_type: str,
    *,
    kind: Kinds | None = None,
    names: Sequence[str] | None = None,
    form: FeatureForm | None = None,
    warn: bool = False,
    of_edges: bool = False,
) -> FeatureSpec:
    """The spec of one feature matrix (n, d), dense or sparse; None for a type without features.

    Args:
        x: the matrix; NaN is a missing value.
        node_type: the type, or the label of a relation, for messages.
        kind: of all columns, or by name or number of a column, where that is known.
        names: of its columns.
        form: what the matrix is outside, if ``x`` was made from it.
        warn: say so where floating-point numbers that may be ids are taken for quantities.
        of_edges: whether the rows are of the edges of a relation, for messages.

    Raises:
        SchemaError: the matrix is not of the kind that was said, or holds whole numbers of which it must be said.
    """
    form = form if form is not None else FeatureForm() if x is None else FeatureForm.of(x)
    options: dict[str, Any] = {
        "names": None if names is None else column_names(names, 0 if x is None else x.size(1), node_type),
        **asdict(form),
    }
    by_column = isinstance(kind, Mapping)
    whole = None if kind is None or isinstance(kind, Mapping) else _kind(kind)
    if x is None or x.size(1) == 0:
        if (by_column and kind) or whole not in (None, FeatureKind.NONE):
            said = "have columns" if whole is None else f"be {whole.value}"
            raise SchemaError(
                f"Node type '{node_type}' is said to {said}, but it has no x; add x, or leave its kind out"
            )
        return FeatureSpec(**options)
    table = ColumnTable(x, node_type, options["names"], form, of_edges=of_edges)
    if whole is not None and not table.missing:
        return _all_alike(table, whole, options)
    if isinstance(kind, Mapping):
        said_of = said_columns(kind, x.size(1), options["names"], node_type)
    else:
        said_of = {} if whole is None else _for_all(table, whole)
    return _each(table, said_of, options, warn)


# -- all columns alike --------------------------------------------------------------------------------


def _kind(name: FeatureKind | str) -> FeatureKind:
    try:
        return FeatureKind(name)
    except ValueError:
        known = ", ".join(kind.value for kind in FeatureKind if kind is not FeatureKind.MIXED)
        raise SchemaError(f"'{name}' is not a kind of features; choose from {known}") from None


def _all_alike(table: ColumnTable, chosen: FeatureKind, options: dict[str, Any]) -> FeatureSpec:
    """The spec of a matrix of one kind that misses nothing."""
    if chosen is FeatureKind.MIXED:
        raise SchemaError(f"Columns of '{table.type}' are said to differ; say the kind of each, by its name or number")
    held = table.held
    if held is not None:
        _check_kind(held, chosen, table)
    if chosen is FeatureKind.NONE:
        options["constant"] = tuple(held.least.tolist()) if held is not None else (0.0,) * table.width
    elif chosen in (FeatureKind.COUNT, FeatureKind.CATEGORICAL):
        top = held.greatest.tolist() if held is not None else [0] * table.width
        options["levels"] = tuple(int(value) + 1 for value in top)
    return FeatureSpec(**options, kind=chosen, width=table.width)


def _check_kind(held: Contents, chosen: FeatureKind, table: ColumnTable) -> None:
    if chosen is FeatureKind.NONE and not held.constant:
        raise SchemaError(
            f"{table.owner} said to have no features, but rows of {table.matrix} differ; leave the kind out"
        )
    if chosen.discrete and not held.counting:
        raise SchemaError(
            f"{table.owner} said to be {chosen.value}, but {table.matrix} holds values that are not 0, 1, 2, ...; say "
            "kind 'continuous', or leave it out"
        )
    if chosen is FeatureKind.BINARY and held.largest > 1:
        raise SchemaError(
            f"{table.owner} said to be binary, but {table.matrix} holds {held.largest:g}; say kind 'count'"
        )
    if chosen is FeatureKind.IDENTITY and not held.one_hot:
        raise SchemaError(
            f"{table.owner} said to carry identities, but rows of {table.matrix} are not one-hot; leave the kind out"
        )


def _for_all(table: ColumnTable, whole: FeatureKind) -> dict[int, Said]:
    """One kind for all columns of a matrix that misses values."""
    if whole in (FeatureKind.NONE, FeatureKind.IDENTITY, FeatureKind.MIXED):
        raise SchemaError(
            f"{table.owner} said to be {whole.value}, but {table.matrix} misses values; say the kind of its columns"
        )
    return dict.fromkeys(range(table.width), Said(ColumnKind(whole.value)))


# -- column by column ---------------------------------------------------------------------------------


def _each(table: ColumnTable, said: dict[int, Said], options: dict[str, Any], warn: bool) -> FeatureSpec:
    """The spec of a matrix whose columns may differ; one kind for all where they do not."""
    held = table.held
    groups: list[list[int]] = []
    if held is None:
        if not said:
            return _all_alike(table, FeatureKind.CONTINUOUS, options)
        kinds = [ColumnKind.CONTINUOUS] * table.width
    else:
        if not said and not table.missing and held.identity:
            return _all_alike(table, FeatureKind.IDENTITY, options)
        kinds, groups = _guesses(table, held)
    for number, about in said.items():
        kinds[number] = about.kind
    _refuse_codes(table, kinds, said, warn)
    for group in groups:
        if all(column not in said for column in group):
            for column in group:
                kinds[column] = ColumnKind.ONE_HOT
    one = None if table.missing or any(about.missing for about in said.values()) else _one_kind(kinds, held)
    if one is not None:
        if said:
            check_said(table, said)
        return _all_alike(table, one, options)
    return FeatureSpec(
        **options, kind=FeatureKind.MIXED, width=table.width, columns=columns_of(table, kinds, said, groups)
    )


def _guesses(table: ColumnTable, held: Contents) -> tuple[list[ColumnKind], list[list[int]]]:
    """What each column seems to hold, and one-hot groups among those of 0 and 1."""
    same, whole, small = held.same, held.whole, held.greatest <= MAX_COUNT
    discrete = whole & small & ~same
    continuous = ~same & ~discrete
    if bool(continuous.any()):
        discrete &= _told_apart(table, held, discrete)
    binary = discrete & (held.greatest <= 1)
    kinds = [
        ColumnKind.CONSTANT
        if one
        else ColumnKind.BINARY
        if two
        else ColumnKind.COUNT
        if three
        else ColumnKind.CONTINUOUS
        for one, two, three in zip(same.tolist(), binary.tolist(), discrete.tolist(), strict=True)
    ]
    groups = one_hot_groups(table.x, held)
    return kinds, [group for group in groups if all(kinds[column] is ColumnKind.BINARY for column in group)]


def _told_apart(table: ColumnTable, held: Contents, discrete: Tensor) -> Tensor:
    """(d,) which columns of whole numbers are discrete though others of the matrix are not.

    Of the numbers other than 0 in columns with fractions, some may be whole all the same: of means of words, say, many
    are. Where more than 1 in 100 is, a column of whole numbers may be like them by chance, and is told apart only if it
    has 50 numbers other than 0. With fewer than 20 rows no column is.
    """
    if held.rows < TELLING_ROWS:
        return torch.zeros_like(discrete)
    found = torch.ones_like(discrete)
    fractional = ~held.whole
    if bool(fractional.any()):
        share = 1 - float(held.fractions[fractional].sum() / held.filled[fractional].sum())
        found &= (share <= WHOLE_SHARE) | (held.filled >= ENOUGH_WHOLE)
    for number in (discrete & (held.greatest >= MAX_LEVELS)).nonzero()[:, 0].tolist():
        found[number] &= len(table.values(number).unique()) <= MAX_LEVELS
    return found


def _one_kind(kinds: Sequence[ColumnKind], held: Contents | None) -> FeatureKind | None:
    """The kind that all columns have which are not constant; None where they differ."""
    varying = set(kinds) - {ColumnKind.CONSTANT}
    if not varying:
        return FeatureKind.NONE
    counted = {ColumnKind.BINARY, ColumnKind.COUNT}
    whole = held is None or (held.counting and (held.largest <= MAX_COUNT or ColumnKind.COUNT in varying))
    if varying <= counted and whole:
        binary = varying == {ColumnKind.BINARY} and (held is None or held.largest <= 1)
        return FeatureKind.BINARY if binary else FeatureKind.COUNT
    if varying == {ColumnKind.CATEGORICAL} and (held is None or held.counting):
        return FeatureKind.CATEGORICAL
    return FeatureKind.CONTINUOUS if varying == {ColumnKind.CONTINUOUS} else None


def _refuse_codes(table: ColumnTable, kinds: Sequence[ColumnKind], said: Mapping[int, Said], warn: bool) -> None:
    """Large whole numbers may be numbers of rows in an embedding, between which nothing lies; a warning for floats."""
    held = table.held
    if held is None:
        return
    large = held.whole & (held.greatest > MAX_COUNT)
    codes = [
        number
        for number in large.nonzero()[:, 0].tolist()
        if number not in said and kinds[number] is ColumnKind.CONTINUOUS
    ]
    if not codes:
        return
    number, top = codes[0], float(held.greatest[codes[0]])
    name = repr(table.names[number]) if table.names else str(number)
    where = f"{table.type}:{table.names[number] if table.names else number}"
    told = f"{table.what(number)} has whole numbers up to {top:.0f}"
    if table.form.integer:
        raise SchemaError(
            f"{told}, which may be ids or quantities; say which by infer_schema(..., kinds={{'{table.type}': "
            f"{{{name}: 'categorical'}}}}) for codes, 'identity' for ids, 'count' for counts, or 'continuous' for "
            f"quantities (on the command line --kinds {where}=categorical; {table.type}=categorical for all columns)"
        )
    if warn:
        log.warning(
            "%s, which are taken for quantities; if they are ids, say so by "
            "infer_schema(..., kinds={'%s': {%s: 'categorical'}}), or --kinds %s=categorical",
            *(told, table.type, name, where),
        )
