"""The paper's claims and ours, each judged by cells of the tables: what holds, what does not, and by which figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from dignn.reproduce import claim_checks as checks
from dignn.reproduce.definition import PAPERS, STRONG
from dignn.reproduce.table_files import Cells
from dignn.reproduce.tables.table2 import CONTINUOUS, MULTINOMIAL
from dignn.reproduce.verdicts import Check, Verdict, in_words, verdict_by


@dataclass(frozen=True)
class Claim:
    """A claim.

    Args:
        said: in the paper's sense.
        table: where it is judged.
        checks: the comparisons that it makes.
        ours: whether the paper says no such thing, and it is a test of ours.
    """

    said: str
    table: str
    checks: Callable[[Cells], Iterable[Check]]
    ours: bool = False

    @property
    def whose(self) -> str:
        """Who says so."""
        return "ours" if self.ours else "the paper"


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, and the figures for it in words."""

    claim: Claim
    verdict: Verdict
    figures: str


def judged(cells: Cells) -> list[Judged]:
    """Every claim with its verdict and the figures for it."""
    every = [(claim, list(claim.checks(cells))) for claim in CLAIMS]
    return [Judged(claim, verdict_by(made), in_words(made)) for claim, made in every]


def _on_both_models(said: str, table: str, made: Callable[[Cells, str], Iterable[Check]]) -> Iterator[Claim]:
    """With the models that the paper asks, and with one strong model that all explainers are asked about."""
    yield Claim(f"{said}, as the paper compares", table, lambda cells: made(cells, PAPERS))
    strong = f"{said}, all asked about one strong model"
    yield Claim(strong, table, lambda cells: made(cells, STRONG), ours=True)


def _claims() -> Iterator[Claim]:
    yield from _on_both_models(
        "Explanation graphs are nearer to real ones by degrees than any rival's, but on BA-Shapes",
        "table1",
        checks.degrees,
    )
    yield from _on_both_models(
        "On real data sets they also are by node types and clustering", "table1", checks.types_and_clustering
    )
    yield Claim(
        "DiTabDDPM's features have more cosine with real ones than TabDDPM's",
        "table2",
        partial(checks.more_cosine, rival=CONTINUOUS),
    )
    for rival in (CONTINUOUS, MULTINOMIAL):
        said = f"The cosine of DiTabDDPM's features is nearer to that of real rows than the cosine of {rival}"
        yield Claim(said, "table2", partial(checks.nearer_features, rival=rival), ours=True)
    said = "More cosine is more real: the paper's is not above that of real rows"
    yield Claim(said, "table2", checks.cosine_means_real, ours=True)
    yield Claim("On DBLP 50 columns give the highest PF and GF", "table2", checks.many_columns)
    said = f"PF and GF are about the same, within {checks.SEEN_APART:g}, by whichever order columns are chosen"
    yield Claim(said, "table2", checks.either_selection)
    said = f"The VAE loses the structure: its GF is lower by at least {checks.SEEN_APART:g}"
    yield Claim(said, "table2", checks.vae_loses_structure)
    yield from _on_both_models("PF and GF are above all rivals' on real data sets", "table3", checks.faithful_on_real)
    yield from _on_both_models("GF is above all rivals' on synthetic data sets", "table3", checks.motifs_on_synthetic)
    said = "GF is above all rivals' on all data sets, of graphs that our rule chooses for all of them"
    yield Claim(said, "table3", checks.motifs_by_our_rule, ours=True)
    yield Claim("Without features, on a GCN, it is still above its rivals", "table3", checks.gcn_above_rivals)
    said = "A model that reads features is explained better than a GCN that does not"
    yield Claim(said, "table3", checks.features_matter)
    same = f"chosen from by the same rule, has one lower by at least {checks.SEEN_APART:g}"
    said = f"A high PF is faithful: noise in place of features, {same}"
    yield Claim(said, "table3", checks.pf_tells_noise, ours=True)
    said = f"A high GF is faithful: as many random real graphs, {same.replace('has', 'have')}"
    yield Claim(said, "table3", checks.gf_tells_random, ours=True)
    said = "One model per size is better than one for several, or a single size"
    yield Claim(said, "table4", checks.one_model_per_size)
    yield Claim("One model for several sizes makes more disconnected graphs", "table4", checks.one_model_disconnects)
    yield Claim("It is faster than D4Explainer on DBLP and IMDB", "table5", checks.faster_than_d4explainer)
    said = f"Its time is about the same, at most {checks.ABOUT:g} times, on large graphs as on small ones"
    yield Claim(said, "table5", checks.constant_seconds)
    said = "Training the generator of graphs (GGT) takes longer than any other stage"
    yield Claim(said, "table5", checks.training_graphs_dominates)
    said = "At least as many generated graphs are valid as the paper reports"
    yield Claim(said, "table6", checks.valid, ours=True)
    said = f"In the case study all classes are predicted with probability 1.0, that is, {checks.NEARLY_1:g} or more"
    yield Claim(said, "table8", checks.case_is_sure)
    said = "It extends to directed relations: explanations contain what was planted"
    yield Claim(said, "extras", checks.directed)
    said = "Several explanations per class are possible: ten stand for more of it than one"
    yield Claim(said, "extras", checks.several_explanations)


CLAIMS = tuple(_claims())
"""What the paper says, what its figures are taken to say, and what we hold against them."""
