"""The paper's claims, each judged by cells of the tables: what holds, what does not, and by which figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import ge, gt, le, lt

from dignn.reproduce.definition import PAPERS, STRONG
from dignn.reproduce.paper_setups import CONVERTED, COSINE, GCN_ROW_OF_PAPER, OUR_ROW, PAPER_SETS, PAPER_TITLES
from dignn.reproduce.table_files import Cells, FilledCell
from dignn.reproduce.tables.extras import EQUAL_FOOTING
from dignn.reproduce.tables.table1 import PUBLISHED_MMD
from dignn.reproduce.tables.table2 import ALL_COLUMNS, CONTINUOUS, DISCRETE
from dignn.reproduce.tables.table3 import PUBLISHED_FAITHFULNESS
from dignn.reproduce.tables.table4 import ALL_SIZES_ROW, ONE_SIZE_ROW, PER_SIZE_ROW
from dignn.reproduce.tables.table5 import LARGE_SET, SECONDS, SIZES_GROUP, SMALL_SET, TIMED_ALIKE
from dignn.reproduce.verdicts import Check, against_all, compared, in_words, state

REAL_SETS = PAPER_SETS[:3]
# How much lower than ours what says nothing must score for a figure to tell them apart; and how many times as long a
# run on thirty times as many nodes may take to be called about as long.
_APART, _ABOUT = 0.05, 2.0


@dataclass(frozen=True)
class Claim:
    """A claim.

    Args:
        said: in the paper's sense.
        table: where it is from.
        checks: the comparisons that it makes.
    """

    said: str
    table: str
    checks: Callable[[Cells], Iterable[Check]]


def judged(cells: Cells) -> list[tuple[Claim, str, str]]:
    """Every claim with its verdict and the figures for it."""
    found = []
    for claim in CLAIMS:
        checks = list(claim.checks(cells))
        found.append((claim, state(checks), in_words(checks)))
    return found


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


def _degrees(cells: Cells) -> Iterator[Check]:
    others = [name for name in PAPER_SETS if name != "ba-shapes"]
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, others, "Deg.", le)


def _types_and_clustering(cells: Cells) -> Iterator[Check]:
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, CONVERTED, "NTD", le)
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, REAL_SETS, "Clus.", le)


def _faithful_on_real(cells: Cells) -> Iterator[Check]:
    for figure in ("PF", "GF"):
        yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, REAL_SETS, figure, ge)


def _motifs_on_synthetic(cells: Cells) -> Iterator[Check]:
    yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, PAPER_SETS[3:], "GF", ge)


def _gcn_above_rivals(cells: Cells) -> Iterator[Check]:
    for figure in ("PF", "GF"):
        own = {"own": GCN_ROW_OF_PAPER, "model": PAPERS}
        yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, CONVERTED, figure, ge, **own)


def _features_matter(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        title = PAPER_TITLES[dataset]
        for figure in ("PF", "GF"):
            at = {"group": title, "figure": figure, "model": PAPERS}
            reading, blind = (cells.ours("table3", row=row, **at) for row in (OUR_ROW, GCN_ROW_OF_PAPER))
            yield compared(f"{figure} on {title}", reading, blind, gt, "{} beside {} of the GCN")


def _discrete_features(cells: Cells) -> Iterator[Check]:
    for cell in _discrete_rows(cells):
        other = cell["row"].replace(DISCRETE, CONTINUOUS)
        own, theirs = _mean(cell), cells.ours("table2", group=cell["group"], row=other, figure=COSINE.title)
        known = None not in (own, theirs, cell["floor"])
        off, other_off = (abs(value - cell["floor"]) if known else None for value in (own, theirs))
        yield compared(f"{cell['group']}, {cell['row']}", off, other_off, le, "{} off real rows, TabDDPM {}")


def _cosine_means_real(cells: Cells) -> Iterator[Check]:
    for cell in _discrete_rows(cells):
        on = f"{cell['group']}, {cell['row']}"
        yield compared(on, cell["paper"]["value"], cell["floor"], le, "the paper {}, real rows {}")


def _discrete_rows(cells: Cells) -> Iterable[FilledCell]:
    """Cosine of each run once: with all columns it does not matter how they are chosen, for the paper neither."""
    found: dict[str, FilledCell] = {}
    for cell in cells.of("table2", figure=COSINE.title):
        if cell["row"].startswith(DISCRETE):
            found.setdefault(cell["run"], cell)
    return found.values()


def _many_columns(cells: Cells) -> Iterator[Check]:
    for figure in ("PF", "GF"):
        at = {"group": "DBLP, by variance", "figure": figure}
        of = {str(number): cells.ours("table2", row=f"{DISCRETE} ({number})", **at) for number in (50, 8, 4, 2)}
        yield against_all(f"{figure} of 50", of.pop("50"), of, ge)


def _one_model_per_size(cells: Cells) -> Iterator[Check]:
    for dataset, number in (("dblp", 50), ("imdb", ALL_COLUMNS)):
        title = PAPER_TITLES[dataset]
        for figure in ("PF", "GF"):
            way = f"edge diffusion, {DISCRETE} ({number}), "
            of = {
                row: cells.ours("table4", group=title, row=way + row, figure=figure)
                for row in (PER_SIZE_ROW, ALL_SIZES_ROW, ONE_SIZE_ROW)
            }
            yield against_all(f"{figure} on {title}", of.pop(PER_SIZE_ROW), of, ge)


def _faster_than_d4explainer(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        at = {"group": f"{PAPER_TITLES[dataset]}, in all", "row": "D4Explainer"}
        theirs = cells.ours("table5", figure=SECONDS.title, **at)
        for ours in cells.of("table5", figure=TIMED_ALIKE.title, **at):
            yield _timed_alike(PAPER_TITLES[dataset], ours, theirs, lt, "{} s beside {} s")


def _constant_seconds(cells: Cells) -> Iterator[Check]:
    large = cells.ours("table5", group=SIZES_GROUP, row=PAPER_TITLES[LARGE_SET])
    words = "{} s on 871 nodes, {} s on 26,128"
    for small in cells.of("table5", group=SIZES_GROUP, row=PAPER_TITLES[SMALL_SET]):
        yield _timed_alike("Tree-Cycle beside DBLP", small, large, lambda one, other: other <= _ABOUT * one, words)


def _timed_alike(
    on: str, ours: FilledCell, other: float | None, holds: Callable[[float, float], bool], words: str
) -> Check:
    """Seconds of runs that were made at one commit and on one machine; of others nothing is said."""
    if ours["ours"] is None and not ours["applies"]:
        return Check(on, None, "not comparable, since no runs of both were made at one commit and on one machine")
    return compared(on, _mean(ours), other, holds, words)


def _valid(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table6", row=OUR_ROW, figure="and consistent"):
        yield compared(cell["group"], _mean(cell), cell["paper"]["value"], ge, "{} beside {}")


def _apart(ours: float, other: float) -> bool:
    return ours - other >= _APART


def _pf_tells_noise(cells: Cells) -> Iterator[Check]:
    yield from _on_equal_footing(cells, CONVERTED, "PF", "column_noise", "ours {}, noise {}")


def _gf_tells_random(cells: Cells) -> Iterator[Check]:
    yield from _on_equal_footing(cells, PAPER_SETS, "GF", "real_subgraphs", "ours {}, real graphs {}")


def _on_equal_footing(cells: Cells, datasets: Iterable[str], figure: str, control: str, words: str) -> Iterator[Check]:
    """Ours beside a control, as many random graphs of each, chosen from by the same rule."""
    for dataset in datasets:
        title = PAPER_TITLES[dataset]
        for cell in cells.of("extras", group=f"{title}, {EQUAL_FOOTING}", row=OUR_ROW, figure=figure):
            yield compared(title, _mean(cell), cell["controls"].get(control), _apart, words)


def _directed(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("extras", group="Planted truth"):
        yield compared(cell["figure"], _mean(cell), cell["target"]["bound"], ge, "{}, to be {}")


def _several_explanations(cells: Cells) -> Iterator[Check]:
    for one in cells.of("extras", group="Several explanations per class", figure="coverage of 1"):
        ten = cells.ours("extras", group=one["group"], row=one["row"], figure="coverage of 10")
        yield compared(one["row"], ten, _mean(one), gt, "{} of a class by ten, {} by one")


def _mean(cell: FilledCell) -> float | None:
    return None if cell["ours"] is None else float(cell["ours"]["mean"])


CLAIMS = (
    Claim(
        "Explanation graphs are nearer to real ones by degrees than any rival's, but on BA-Shapes", "table1", _degrees
    ),
    Claim("On real data sets they also are by node types and clustering", "table1", _types_and_clustering),
    Claim("DiTabDDPM's features are more like real ones than TabDDPM's", "table2", _discrete_features),
    Claim("More cosine is more real: the paper's is not above that of real rows", "table2", _cosine_means_real),
    Claim("On DBLP 50 columns give the highest PF and GF", "table2", _many_columns),
    Claim("PF and GF are above all rivals' on real data sets, all asked about one model", "table3", _faithful_on_real),
    Claim("GF is above all rivals' on synthetic data sets", "table3", _motifs_on_synthetic),
    Claim("Without features, on a GCN, it is still above its rivals", "table3", _gcn_above_rivals),
    Claim("A model that reads features is explained better than a GCN that does not", "table3", _features_matter),
    Claim(
        "A high PF is faithful: noise in place of features, chosen from by the same rule, has a lower one",
        "table3",
        _pf_tells_noise,
    ),
    Claim(
        "A high GF is faithful: random real graphs, chosen from by the same rule, have a lower one",
        "table3",
        _gf_tells_random,
    ),
    Claim("One model per size is better than one for several, or a single size", "table4", _one_model_per_size),
    Claim("It is faster than D4Explainer on DBLP and IMDB", "table5", _faster_than_d4explainer),
    Claim("Its time is about the same on small and large graphs", "table5", _constant_seconds),
    Claim("At least as many generated graphs are valid as the paper reports", "table6", _valid),
    Claim("It extends to directed relations: explanations contain what was planted", "extras", _directed),
    Claim(
        "Several explanations per class are possible: ten stand for more of it than one",
        "extras",
        _several_explanations,
    ),
)
"""What the paper says, and what its figures are taken to say."""
