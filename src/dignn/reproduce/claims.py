"""The paper's claims, each judged by cells of the tables: what holds, what does not, and by which figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from dignn.reproduce.definition import PAPERS, STRONG
from dignn.reproduce.paper_setups import CONVERTED, GCN_ROW_OF_PAPER, OUR_ROW, PAPER_SETS, PAPER_TITLES
from dignn.reproduce.table_files import Cells, FilledCell
from dignn.reproduce.tables.table1 import PUBLISHED_MMD
from dignn.reproduce.tables.table2 import ALL_COLUMNS, CONTINUOUS, DISCRETE
from dignn.reproduce.tables.table3 import PUBLISHED_FAITHFULNESS
from dignn.reproduce.tables.table4 import ALL_SIZES_ROW, ONE_SIZE_ROW, PER_SIZE_ROW

HOLDING, SO_FAR, IN_PART, FAILING, UNKNOWN = (
    "holds",
    "holds so far",
    "holds in part",
    "does not hold",
    "not measured",
)
REAL_SETS = PAPER_SETS[:3]
# How much lower than ours what says nothing must score for a figure to tell them apart; and how many times as long a
# run on thirty times as many nodes may take to be called about as long.
_APART, _ABOUT = 0.05, 2.0
# How many comparisons are told of.
_TOLD = 4


@dataclass(frozen=True)
class Check:
    """One comparison that a claim makes.

    Args:
        on: what it is of, for example a data set.
        holds: whether it comes out as claimed; None where there is no run to compare.
        figures: what was compared.
    """

    on: str
    holds: bool | None
    figures: str = ""


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
        found.append((claim, _state(checks), _words(checks)))
    return found


def _state(checks: Sequence[Check]) -> str:
    known = [check for check in checks if check.holds is not None]
    if not known:
        return UNKNOWN
    if all(check.holds for check in known):
        return HOLDING if len(known) == len(checks) else SO_FAR
    return IN_PART if any(check.holds for check in known) else FAILING


def _words(checks: Sequence[Check]) -> str:
    known = [check for check in checks if check.holds is not None]
    bad = [check for check in known if not check.holds]
    text = f"{len(known) - len(bad)} of {len(known)} comparisons" if known else "no comparison"
    text += f" ({len(checks) - len(known)} more without a run)" if len(known) < len(checks) else ""
    told = [f"{one.on} ({one.figures})" for one in bad or known]
    more = f" and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return text + (f"; {'not ' if bad else ''}{', '.join(told[:_TOLD])}{more}" if told else "")


def _compared(
    on: str, ours: float | None, other: float | None, holds: Callable[[float, float], bool], words: str
) -> Check:
    """A comparison of two values; ``words`` has places for both."""
    if ours is None or other is None:
        return Check(on, None)
    return Check(on, holds(ours, other), words.format(_number(ours), _number(other)))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 20 else f"{value:.3f}" if abs(value) >= 0.1 else f"{value:.4f}"


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
        rivals = {row: value for row, value in values.items() if value is not None and not row.startswith(OUR_ROW)}
        best = next((row for row in rivals if all(better(rivals[row], other) for other in rivals.values())), None)
        words = "{} beside {} of " + str(best)
        yield _compared(f"{figure} on {title}", values.get(own), rivals.get(best or ""), better, words)


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
            yield _compared(f"{figure} on {title}", reading, blind, gt, "{} beside {} of the GCN")


def _discrete_features(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table2", figure="cosine"):
        if cell["row"].startswith(DISCRETE):
            other = cell["row"].replace(DISCRETE, CONTINUOUS)
            theirs = cells.ours("table2", group=cell["group"], row=other, figure="cosine")
            own, real = cells.ours("table2", group=cell["group"], row=cell["row"], figure="cosine"), cell["floor"]
            known = None not in (own, theirs, real)
            off, other_off = (abs(value - real) if known else None for value in (own, theirs))
            yield _compared(f"{cell['group']}, {cell['row']}", off, other_off, le, "{} off real rows, TabDDPM {}")


def _cosine_means_real(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table2", figure="cosine"):
        if cell["row"].startswith(DISCRETE):
            published = cell["paper"]["value"]
            on = f"{cell['group']}, {cell['row']}"
            yield _compared(on, published, cell["floor"], le, "the paper {}, real rows {}")


def _many_columns(cells: Cells) -> Iterator[Check]:
    for figure in ("PF", "GF"):
        at = {"group": "DBLP, by variance", "figure": figure}
        most, *fewer = (cells.ours("table2", row=f"{DISCRETE} ({number})", **at) for number in (50, 8, 4, 2))
        known = [value for value in fewer if value is not None]
        yield _compared(f"{figure} of 50", most, max(known) if known else None, ge, "{} beside {}")


def _one_model_per_size(cells: Cells) -> Iterator[Check]:
    for dataset, number in (("dblp", 50), ("imdb", ALL_COLUMNS)):
        title = PAPER_TITLES[dataset]
        for figure in ("PF", "GF"):
            rows = [
                f"edge diffusion, {DISCRETE} ({number}), {way}" for way in (PER_SIZE_ROW, ALL_SIZES_ROW, ONE_SIZE_ROW)
            ]
            each, *others = (cells.ours("table4", group=title, row=row, figure=figure) for row in rows)
            known = [value for value in others if value is not None]
            yield _compared(f"{figure} on {title}", each, max(known) if known else None, ge, "{} beside {}")


def _seconds(cells: Cells, dataset: str, row: str) -> float | None:
    return cells.ours("table5", group=f"{PAPER_TITLES[dataset]}, in all", row=row, figure="seconds")


def _faster_than_d4explainer(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        ours, theirs = (_seconds(cells, dataset, row) for row in (OUR_ROW, "D4Explainer"))
        yield _compared(PAPER_TITLES[dataset], ours, theirs, lt, "{} s beside {} s")


def _constant_seconds(cells: Cells) -> Iterator[Check]:
    large, small = (_seconds(cells, dataset, OUR_ROW) for dataset in ("dblp", "tree-cycle"))
    words = "{} s on 26,128 nodes, {} s on 871"
    yield _compared("DBLP beside Tree-Cycle", large, small, lambda one, other: one <= _ABOUT * other, words)


def _valid(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table6", row=OUR_ROW, figure="and consistent"):
        yield _compared(cell["group"], _mean(cell), cell["paper"]["value"], ge, "{} beside {}")


def _apart(ours: float, other: float) -> bool:
    return ours - other >= _APART


def _pf_tells_noise(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        for cell in cells.of("table3", group=PAPER_TITLES[dataset], row=OUR_ROW, figure="PF", model=STRONG):
            noise = cell["controls"].get("column_noise")
            yield _compared(cell["group"], _mean(cell), noise, _apart, "ours {}, noise {}")


def _gf_tells_random(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table3", row=OUR_ROW, figure="GF", model=STRONG):
        yield _compared(cell["group"], _mean(cell), cell["floor"], _apart, "ours {}, real graphs at random {}")


def _directed(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("extras", group="Planted truth"):
        yield _compared(cell["figure"], _mean(cell), cell["target"]["bound"], ge, "{}, to be {}")


def _several_explanations(cells: Cells) -> Iterator[Check]:
    for one in cells.of("extras", group="Several explanations per class", figure="coverage of 1"):
        ten = cells.ours("extras", group=one["group"], row=one["row"], figure="coverage of 10")
        yield _compared(one["row"], ten, _mean(one), gt, "{} of a class by ten, {} by one")


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
    Claim("A high PF is faithful: noise in place of features has a lower one", "table3", _pf_tells_noise),
    Claim("A high GF is faithful: real graphs at random have a lower one", "table3", _gf_tells_random),
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
