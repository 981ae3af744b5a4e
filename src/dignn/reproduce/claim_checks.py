"""What each claim compares, by table: cells of ours beside those of others, of the paper, or of what says nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from operator import ge, gt, le, lt

from dignn.reproduce.definition import PAPERS, STRONG
from dignn.reproduce.paper_setups import (
    CONVERTED,
    COSINE,
    GCN_ROW_OF_PAPER,
    OUR_ROW,
    PAPER_SETS,
    PAPER_TITLES,
    VAE_ROW,
    by_our_rule,
)
from dignn.reproduce.table_files import Cells, FilledCell, Value, mean_of
from dignn.reproduce.tables.extras import EQUAL_FOOTING
from dignn.reproduce.tables.table1 import PUBLISHED_MMD
from dignn.reproduce.tables.table2 import ALL_COLUMNS, DISCRETE, row_of
from dignn.reproduce.tables.table3 import EXPLAINERS_BY_OUR_RULE, PUBLISHED_FAITHFULNESS
from dignn.reproduce.tables.table4 import ALL_SIZES_ROW, CONNECTED, ONE_SIZE_ROW, PER_SIZE_ROW
from dignn.reproduce.tables.table5 import (
    LARGE_SET,
    PAPER_STAGES,
    SECONDS,
    SIZES_GROUP,
    SMALL_SET,
    STAGES_GROUP,
    TIMED_ALIKE,
)
from dignn.reproduce.tables.table8 import CASE_BY_PAPERS_RULE, CASE_GROUP, PUBLISHED_NODES
from dignn.reproduce.verdicts import Check, against_all, compared

REAL_SETS, SYNTHETIC_SETS = PAPER_SETS[:3], PAPER_SETS[3:]
# Margins that claims name: how far apart two shares must be for one to be called higher, or may be to be called about
# the same; and how many times as long a run may take to be called about as long.
SEEN_APART, ABOUT = 0.05, 2.0
# From here on the paper, which prints one digit of that probability, would print 1.0.
NEARLY_1 = 0.95
_FAITHFULNESS = ("PF", "GF")
_GGT = PAPER_STAGES[1]


def _against_rivals(
    cells: Cells,
    table: str,
    rows: Iterable[str],
    datasets: Iterable[str],
    figure: str,
    better: Callable[[float, float], bool],
    own: str = OUR_ROW,
    model: str = STRONG,
) -> Iterator[Check]:
    """Ours beside the best rival, by data set."""
    for dataset in datasets:
        title = PAPER_TITLES[dataset]
        values = {row: cells.ours(table, group=title, row=row, figure=figure, model=model) for row in rows}
        rivals = {row: value for row, value in values.items() if not row.startswith(OUR_ROW)}
        yield against_all(f"{figure} on {title}", values.get(own), rivals, better)


# -- graphs and features ------------------------------------------------------------------------------


def degrees(cells: Cells, model: str) -> Iterator[Check]:
    others = [name for name in PAPER_SETS if name != "ba-shapes"]
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, others, "Deg.", le, model=model)


def types_and_clustering(cells: Cells, model: str) -> Iterator[Check]:
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, CONVERTED, "NTD", le, model=model)
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, REAL_SETS, "Clus.", le, model=model)


def more_cosine(cells: Cells, rival: str) -> Iterator[Check]:
    for cell in _discrete_rows(cells):
        yield compared(_place(cell), mean_of(cell), _of_rival(cells, cell, rival), gt, f"{{}}, {rival} {{}}")


def nearer_features(cells: Cells, rival: str) -> Iterator[Check]:
    for cell in _discrete_rows(cells):
        own, other = (_off(value, cell["floor"]) for value in (mean_of(cell), _of_rival(cells, cell, rival)))
        yield compared(_place(cell), own, other, le, f"{{}} off real rows, {rival} {{}}")


def cosine_means_real(cells: Cells) -> Iterator[Check]:
    for cell in _discrete_rows(cells):
        ours = mean_of(cell)
        runs = 1 if ours is None else ours.runs  # real rows are measured beside ours
        floor = None if cell["floor"] is None else Value(cell["floor"], runs=runs)
        yield compared(_place(cell), Value(cell["paper"]["value"]), floor, le, "the paper {}, real rows {}")


def _discrete_rows(cells: Cells) -> Iterable[FilledCell]:
    """Cosine of each run once: with all columns it does not matter how they are chosen, for the paper neither."""
    found: dict[str, FilledCell] = {}
    for cell in cells.of("table2", figure=COSINE.title):
        if cell["row"].startswith(DISCRETE):
            found.setdefault(cell["run"], cell)
    return found.values()


def _of_rival(cells: Cells, cell: FilledCell, rival: str) -> Value | None:
    row = cell["row"].replace(DISCRETE, rival)
    return cells.ours("table2", group=cell["group"], row=row, figure=cell["figure"])


def _off(value: Value | None, floor: float | None) -> Value | None:
    return None if value is None or floor is None else value._replace(mean=abs(value.mean - floor))


def _place(cell: FilledCell) -> str:
    return f"{cell['group']}, {cell['row']}"


# -- columns ------------------------------------------------------------------------------------------


def many_columns(cells: Cells) -> Iterator[Check]:
    for figure in _FAITHFULNESS:
        at = {"group": "DBLP, by variance", "figure": figure}
        of = {str(number): cells.ours("table2", row=row_of(DISCRETE, number), **at) for number in (50, 8, 4, 2)}
        yield against_all(f"{figure} of 50", of.pop("50"), of, ge)


def either_selection(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table2"):
        if cell["row"].startswith(DISCRETE) and cell["figure"] in _FAITHFULNESS and "by variance" in cell["group"]:
            other = cell["group"].replace("variance", "frequency")
            (twin,) = cells.of("table2", group=other, row=cell["row"], figure=cell["figure"])
            if twin["run"] != cell["run"]:
                on = f"{cell['figure']} of {_place(cell)}"
                yield compared(on, mean_of(cell), mean_of(twin), _about, "{}, by frequency {}")


def vae_loses_structure(cells: Cells) -> Iterator[Check]:
    for group, number in (("DBLP, by variance", 50), ("IMDB, by variance", ALL_COLUMNS)):
        at = {"group": group, "figure": "GF"}
        vae, own = (cells.ours("table2", row=row, **at) for row in (VAE_ROW, row_of(DISCRETE, number)))
        yield compared(f"GF on {group.partition(',')[0]}", own, vae, _apart, "{}, the VAE {}")


# -- faithfulness -------------------------------------------------------------------------------------


def faithful_on_real(cells: Cells, model: str) -> Iterator[Check]:
    for figure in _FAITHFULNESS:
        yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, REAL_SETS, figure, ge, model=model)


def motifs_on_synthetic(cells: Cells, model: str) -> Iterator[Check]:
    yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, SYNTHETIC_SETS, "GF", ge, model=model)


def motifs_by_our_rule(cells: Cells) -> Iterator[Check]:
    rows = [by_our_rule(row) for row in EXPLAINERS_BY_OUR_RULE]
    yield from _against_rivals(cells, "table3", rows, PAPER_SETS, "GF", ge, own=by_our_rule(OUR_ROW))


def gcn_above_rivals(cells: Cells) -> Iterator[Check]:
    for figure in _FAITHFULNESS:
        own = {"own": GCN_ROW_OF_PAPER, "model": PAPERS}
        yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, CONVERTED, figure, ge, **own)


def features_matter(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        title = PAPER_TITLES[dataset]
        for figure in _FAITHFULNESS:
            at = {"group": title, "figure": figure, "model": PAPERS}
            reading, blind = (cells.ours("table3", row=row, **at) for row in (OUR_ROW, GCN_ROW_OF_PAPER))
            yield compared(f"{figure} on {title}", reading, blind, gt, "{} beside {} of the GCN")


def pf_tells_noise(cells: Cells) -> Iterator[Check]:
    yield from _on_equal_footing(cells, CONVERTED, "PF", "column_noise", "ours {}, noise {}")


def gf_tells_random(cells: Cells) -> Iterator[Check]:
    yield from _on_equal_footing(cells, PAPER_SETS, "GF", "real_subgraphs", "ours {}, real graphs {}")


def _on_equal_footing(cells: Cells, datasets: Iterable[str], figure: str, control: str, words: str) -> Iterator[Check]:
    """Ours beside a control, as many random graphs of each, chosen from by the same rule."""
    for dataset in datasets:
        title = PAPER_TITLES[dataset]
        for cell in cells.of("extras", group=f"{title}, {EQUAL_FOOTING}", row=OUR_ROW, figure=figure):
            other = cell["controls"].get(control)
            yield compared(title, mean_of(cell), None if other is None else Value(other), _apart, words)


def case_is_sure(cells: Cells) -> Iterator[Check]:
    """By the lowest class of ours, which is no lower by the paper's rule, or else by what the mean tells of it."""
    at = {"group": CASE_GROUP, "figure": "probability"}
    classes = [cells.ours("table8", row=f"class {number}", **at) for number in range(len(PUBLISHED_NODES))]
    told = [one for one in classes if one is not None]
    lowest = compared("lowest class", min(told, default=None), Value(NEARLY_1), ge, "{} by our rule, to be {}")
    mean = cells.ours("table8", row=CASE_BY_PAPERS_RULE, **at)
    some_below = compared("mean of the classes", mean, Value(NEARLY_1), lt, "{}, to be {}")
    least = Value(1 - (1 - NEARLY_1) / len(classes))
    none_below = compared("mean of the classes", mean, least, ge, f"{{}}, only from {{}} on none is below {NEARLY_1:g}")
    if lowest.holds and len(told) == len(classes):
        yield lowest
    elif some_below.holds:
        yield replace(some_below, holds=False)
    elif none_below.holds or not (mean or told):
        yield none_below
    else:
        yield replace(none_below if mean else lowest, holds=None, undecided=True)


# -- sizes and seconds --------------------------------------------------------------------------------


def one_model_per_size(cells: Cells) -> Iterator[Check]:
    for title, way in _ways():
        for figure in _FAITHFULNESS:
            rows = (PER_SIZE_ROW, ALL_SIZES_ROW, ONE_SIZE_ROW)
            of = {row: cells.ours("table4", group=title, row=way + row, figure=figure) for row in rows}
            yield against_all(f"{figure} on {title}", of.pop(PER_SIZE_ROW), of, ge)


def one_model_disconnects(cells: Cells) -> Iterator[Check]:
    for title, way in _ways():
        at = {"group": title, "figure": CONNECTED.title}
        own, one = (cells.ours("table4", row=way + row, **at) for row in (PER_SIZE_ROW, ALL_SIZES_ROW))
        yield compared(title, own, one, gt, "{} connected with a model per size, {} with one")


def _ways() -> Iterator[tuple[str, str]]:
    """By data set the beginning of the rows of edge diffusion."""
    for dataset, number in (("dblp", 50), ("imdb", ALL_COLUMNS)):
        yield PAPER_TITLES[dataset], f"edge diffusion, {row_of(DISCRETE, number)}, "


def faster_than_d4explainer(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        at = {"group": f"{PAPER_TITLES[dataset]}, in all", "row": "D4Explainer"}
        theirs = cells.ours("table5", figure=SECONDS.title, **at)
        for ours in cells.of("table5", figure=TIMED_ALIKE.title, **at):
            yield _timed_alike(PAPER_TITLES[dataset], ours, theirs, lt, "{} s beside {} s")


def constant_seconds(cells: Cells) -> Iterator[Check]:
    large = cells.ours("table5", group=SIZES_GROUP, row=PAPER_TITLES[LARGE_SET])
    words = "{} s on 871 nodes, {} s on 26,128"
    for small in cells.of("table5", group=SIZES_GROUP, row=PAPER_TITLES[SMALL_SET]):
        yield _timed_alike("Tree-Cycle beside DBLP", small, large, lambda one, other: other <= ABOUT * one, words)


def _timed_alike(
    on: str, ours: FilledCell, other: Value | None, holds: Callable[[float, float], bool], words: str
) -> Check:
    """Seconds of runs that were made at one commit and on one machine; of others nothing is said."""
    if ours["ours"] is None and not ours["applies"]:
        return Check(on, None, "not comparable, since no runs of both were made at one commit and on one machine")
    return compared(on, mean_of(ours), other, holds, words)


def training_graphs_dominates(cells: Cells) -> Iterator[Check]:
    by_set: dict[str, dict[str, Value | None]] = {}
    for cell in cells.of("table5", group=STAGES_GROUP):
        by_set.setdefault(cell["row"], {})[cell["figure"]] = mean_of(cell)
    for title, of in by_set.items():
        yield against_all(f"{_GGT} on {title}", of.pop(_GGT), of, ge)


# -- what else is said --------------------------------------------------------------------------------


def valid(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table6", row=OUR_ROW, figure="and consistent"):
        yield compared(cell["group"], mean_of(cell), Value(cell["paper"]["value"]), ge, "{} beside {}")


def directed(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("extras", group="Planted truth"):
        yield compared(cell["figure"], mean_of(cell), Value(cell["target"]["bound"]), ge, "{}, to be {}")


def several_explanations(cells: Cells) -> Iterator[Check]:
    for one in cells.of("extras", group="Several explanations per class", figure="coverage of 1"):
        ten = cells.ours("extras", group=one["group"], row=one["row"], figure="coverage of 10")
        yield compared(one["row"], ten, mean_of(one), gt, "{} of a class by ten, {} by one")


def _apart(ours: float, other: float) -> bool:
    return ours - other >= SEEN_APART


def _about(ours: float, other: float) -> bool:
    return abs(ours - other) <= SEEN_APART
