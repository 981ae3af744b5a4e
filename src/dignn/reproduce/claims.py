"""The paper's claims, each judged by cells of the tables: what holds, what does not, and by which figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dignn.reproduce.definition import PAPERS, STRONG
from dignn.reproduce.paper_setups import CONVERTED, GCN_ROW_OF_PAPER, OUR_ROW, PAPER_SETS, PAPER_TITLES
from dignn.reproduce.tables.table1 import PUBLISHED_MMD
from dignn.reproduce.tables.table2 import ALL_COLUMNS, CONTINUOUS, DISCRETE
from dignn.reproduce.tables.table3 import PUBLISHED_FAITHFULNESS
from dignn.reproduce.tables.table4 import EACH, FIXED, SEVERAL
from dignn.reproduce.tables_read import Cells

HOLDS, IN_PART, FAILS, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"
REAL_SETS = PAPER_SETS[:3]
# How much lower than ours the PF of noise must be to say that PF tells them apart; and how many times as long a run on
# thirty times as many nodes may take to be called about as long.
_APART, _ABOUT = 0.05, 2.0


@dataclass(frozen=True)
class Check:
    """One comparison that a claim makes.

    Args:
        on: what it is of, for example a data set.
        holds: whether it comes out as claimed.
        figures: what was compared.
    """

    on: str
    holds: bool
    figures: str


@dataclass(frozen=True)
class Claim:
    """A claim.

    Args:
        said: in the paper's sense.
        table: where it is from.
        checks: the comparisons that it makes, as far as there are runs.
    """

    said: str
    table: str
    checks: Callable[[Cells], Iterable[Check]]


def judged(cells: Cells) -> list[tuple[Claim, str, str]]:
    """Every claim with its verdict and the figures for it."""
    found = []
    for claim in CLAIMS:
        checks = list(claim.checks(cells))
        good = [check for check in checks if check.holds]
        state = UNKNOWN if not checks else HOLDS if len(good) == len(checks) else IN_PART if good else FAILS
        found.append((claim, state, _words(checks)))
    return found


def _words(checks: list[Check]) -> str:
    if not checks:
        return "no runs to compare"
    bad = [check for check in checks if not check.holds]
    text = f"{len(checks) - len(bad)} of {len(checks)} comparisons"
    told = bad or checks
    return f"{text}; {'not ' if bad else ''}{', '.join(f'{one.on} ({one.figures})' for one in told[:4])}" + (
        f" and {len(told) - 4} more" if len(told) > 4 else ""
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"


def _against_rivals(
    cells: Cells, table: str, rows: Mapping[str, Any], datasets: Iterable[str], figure: str, sign: int, **more: str
) -> Iterator[Check]:
    """Ours beside the best rival, by data set; ``sign``: 1 where more is better."""
    own, model = more.get("own", OUR_ROW), more.get("model", STRONG)
    for dataset in datasets:
        title = PAPER_TITLES[dataset]
        values = {row: cells.ours(table, group=title, row=row, figure=figure, model=model) for row in rows}
        ours = values.pop(own, None)
        rivals = {row: value for row, value in values.items() if value is not None and not row.startswith(OUR_ROW)}
        if ours is not None and rivals:
            best = max(rivals, key=lambda row: sign * rivals[row])
            compared = f"{_number(ours)} beside {_number(rivals[best])} of {best}"
            yield Check(f"{figure} on {title}", sign * ours >= sign * rivals[best], compared)


def _degrees(cells: Cells) -> Iterator[Check]:
    others = [name for name in PAPER_SETS if name != "ba-shapes"]
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, others, "Deg.", -1)


def _types_and_clustering(cells: Cells) -> Iterator[Check]:
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, CONVERTED, "NTD", -1)
    yield from _against_rivals(cells, "table1", PUBLISHED_MMD, REAL_SETS, "Clus.", -1)


def _faithful_on_real(cells: Cells) -> Iterator[Check]:
    for figure in ("PF", "GF"):
        yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, REAL_SETS, figure, 1)


def _motifs_on_synthetic(cells: Cells) -> Iterator[Check]:
    yield from _against_rivals(cells, "table3", PUBLISHED_FAITHFULNESS, PAPER_SETS[3:], "GF", 1)


def _gcn_above_rivals(cells: Cells) -> Iterator[Check]:
    for figure in ("PF", "GF"):
        yield from _against_rivals(
            cells, "table3", PUBLISHED_FAITHFULNESS, CONVERTED, figure, 1, own=GCN_ROW_OF_PAPER, model=PAPERS
        )


def _features_matter(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        title = PAPER_TITLES[dataset]
        for figure in ("PF", "GF"):
            at = {"group": title, "figure": figure}
            reading = cells.ours("table3", row=OUR_ROW, model=PAPERS, **at)
            blind = cells.ours("table3", row=GCN_ROW_OF_PAPER, model=PAPERS, **at)
            if reading is not None and blind is not None:
                compared = f"{_number(reading)} beside {_number(blind)} of the GCN"
                yield Check(f"{figure} on {title}", reading > blind, compared)


def _discrete_features(cells: Cells) -> Iterator[Check]:
    for ours in cells.of("table2", figure="cosine"):
        if not ours["row"].startswith(DISCRETE) or ours["floor"] is None:
            continue
        other = {"group": ours["group"], "row": ours["row"].replace(DISCRETE, CONTINUOUS), "figure": "cosine"}
        theirs = cells.ours("table2", **other)
        if ours["ours"] is not None and theirs is not None:
            value, real = ours["ours"]["mean"], ours["floor"]
            compared = f"{_number(value)} and {_number(theirs)}, real {_number(real)}"
            yield Check(f"{ours['group']}, {ours['row']}", abs(value - real) <= abs(theirs - real), compared)


def _many_columns(cells: Cells) -> Iterator[Check]:
    for figure in ("PF", "GF"):
        at = {"group": "DBLP, by variance", "figure": figure}
        values = {number: cells.ours("table2", row=f"{DISCRETE} ({number})", **at) for number in (50, 8, 4, 2)}
        most = values.pop(50)
        fewer = [value for value in values.values() if value is not None]
        if most is not None and fewer:
            yield Check(f"{figure} of 50", most >= max(fewer), f"{_number(most)} beside {_number(max(fewer))}")


def _one_model_per_size(cells: Cells) -> Iterator[Check]:
    for dataset, number in (("dblp", 50), ("imdb", ALL_COLUMNS)):
        for figure in ("PF", "GF"):
            values = {
                way: cells.ours(
                    "table4",
                    group=PAPER_TITLES[dataset],
                    row=f"edge diffusion, {DISCRETE} ({number}), {way}",
                    figure=figure,
                )
                for way in (EACH, SEVERAL, FIXED)
            }
            each = values.pop(EACH)
            others = [value for value in values.values() if value is not None]
            if each is not None and others:
                compared = f"{_number(each)} beside {_number(max(others))}"
                yield Check(f"{figure} on {PAPER_TITLES[dataset]}", each >= max(others), compared)


def _seconds(cells: Cells, dataset: str, row: str) -> float | None:
    return cells.ours("table5", group=f"{PAPER_TITLES[dataset]}, in all", row=row, figure="seconds")


def _faster_than_d4explainer(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        ours, theirs = _seconds(cells, dataset, OUR_ROW), _seconds(cells, dataset, "D4Explainer")
        if ours is not None and theirs is not None:
            yield Check(PAPER_TITLES[dataset], ours < theirs, f"{_number(ours)} s beside {_number(theirs)} s")


def _constant_seconds(cells: Cells) -> Iterator[Check]:
    large, small = _seconds(cells, "dblp", OUR_ROW), _seconds(cells, "tree-cycle", OUR_ROW)
    if large is not None and small is not None:
        compared = f"{_number(large)} s on 26,128 nodes, {_number(small)} s on 871"
        yield Check("DBLP beside Tree-Cycle", large <= _ABOUT * small, compared)


def _valid(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table6", row=OUR_ROW, figure="and consistent"):
        if cell["ours"] is not None:
            compared = f"{_number(cell['ours']['mean'])} beside {_number(cell['paper']['value'])}"
            yield Check(cell["group"], cell["ours"]["mean"] >= cell["paper"]["value"], compared)


def _pf_tells_noise(cells: Cells) -> Iterator[Check]:
    for dataset in CONVERTED:
        for cell in cells.of("table3", group=PAPER_TITLES[dataset], row=OUR_ROW, figure="PF", model=STRONG):
            noise = cell["controls"].get("column_noise")
            if cell["ours"] is not None and noise is not None:
                compared = f"ours {_number(cell['ours']['mean'])}, noise {_number(noise)}"
                yield Check(cell["group"], cell["ours"]["mean"] - noise >= _APART, compared)


def _gf_tells_random(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("table3", row=OUR_ROW, figure="GF", model=STRONG):
        floor = cell["floor"]
        if cell["ours"] is not None and floor is not None:
            compared = f"ours {_number(cell['ours']['mean'])}, real graphs at random {_number(floor)}"
            yield Check(cell["group"], cell["ours"]["mean"] - floor >= _APART, compared)


def _directed(cells: Cells) -> Iterator[Check]:
    for cell in cells.of("extras", group="Planted truth"):
        if cell["ours"] is not None:
            yield Check(cell["figure"], cell["verdict"] == "met", _number(cell["ours"]["mean"]))


def _several_explanations(cells: Cells) -> Iterator[Check]:
    for one in cells.of("extras", group="Several explanations per class", figure="coverage of 1"):
        ten = cells.ours("extras", group=one["group"], row=one["row"], figure="coverage of 10")
        if one["ours"] is not None and ten is not None:
            compared = f"{_number(one['ours']['mean'])} of a class by one, {_number(ten)} by ten"
            yield Check(one["row"], ten > one["ours"]["mean"], compared)


CLAIMS = (
    Claim(
        "Explanation graphs are nearer to real ones by degrees than any rival's (but on BA-Shapes)", "table1", _degrees
    ),
    Claim("and on real data sets by node types and clustering", "table1", _types_and_clustering),
    Claim("DiTabDDPM's features are more like real ones than TabDDPM's", "table2", _discrete_features),
    Claim("On DBLP 50 columns give the highest PF and GF", "table2", _many_columns),
    Claim(
        "PF and GF are above all rivals' on DBLP, IMDB and MUTAG (all asked about one model)",
        "table3",
        _faithful_on_real,
    ),
    Claim("GF is above all rivals' on synthetic data sets", "table3", _motifs_on_synthetic),
    Claim("Without features, on a GCN, it is still above its rivals", "table3", _gcn_above_rivals),
    Claim("A model that reads features is explained better than a GCN that does not", "table3", _features_matter),
    Claim("A high PF is faithful: noise in place of features has a lower one", "table3", _pf_tells_noise),
    Claim("A high GF is faithful: real graphs at random have a lower one", "table3", _gf_tells_random),
    Claim("One model per size is better than one for several, or a single size", "table4", _one_model_per_size),
    Claim("It is faster than D4Explainer on DBLP and IMDB", "table5", _faster_than_d4explainer),
    Claim("Its time is about the same on small and large graphs", "table5", _constant_seconds),
    Claim("At least as many generated graphs are valid as the paper reports", "table6", _valid),
    Claim("It extends to directed relations (targets of planted truth)", "extras", _directed),
    Claim(
        "Several explanations per class are possible, and ten stand for more than one", "extras", _several_explanations
    ),
)
