"""The paper's data sets, and the runs behind its rows: with a strong model, and in its own way."""

from __future__ import annotations

from dataclasses import replace

from dignn.metrics.over_seeds import FURTHER, ComparedFigure
from dignn.reproduce.definition import LIKE_REAL, PAPERS, SELECTION, STRONG
from dignn.reproduce.setups import Setup
from dignn.zoo.datasets.registry import DATASETS
from dignn.zoo.models.settings import Form

# In the order of its tables.
PAPER_TITLES = {
    "dblp": "DBLP",
    "imdb": "IMDB",
    "mutag": "MUTAG",
    "ba-shapes": "BA-Shapes",
    "tree-cycle": "Tree-Cycle",
    "tree-grids": "Tree-Grids",
    "ba-3motif": "BA-3Motif",
}
PAPER_SETS = tuple(PAPER_TITLES)
# Those with several kinds of nodes, which its rivals cannot explain: they get a graph converted to one kind.
CONVERTED = ("dblp", "imdb")
OUR_ROW, GCN_ROW_OF_PAPER, VAE_ROW = "DiGNNExplainer", "DiGNNExplainer-GCN", "VAE"
# The names of its rows, and of our explainers.
EXPLAINER_OF = {
    "XGNN": "xgnn",
    "GNNInterpreter": "gnninterpreter",
    "D4Explainer": "d4explainer",
    VAE_ROW: "graphvae",
    GCN_ROW_OF_PAPER: "dignnexplainer",
    OUR_ROW: "dignnexplainer",
}
# The paper keeps 50 columns of DBLP's authors and papers, as many as its terms have.
FIFTY = ("author=50", "paper=50")

# How graphs are chosen that stand for a class: the paper takes the one of the highest probability.
PAPERS_RULE, OUR_RULE = "highest", "representative"
_PF, _GF = ComparedFigure("PF", (FURTHER, "paper", "pf")), ComparedFigure("GF", (FURTHER, "paper", "gf"))
# The most cosine is no merit: rows that are all ones have more than real rows.
COSINE = ComparedFigure("cosine", (FURTHER, "paper", "cosine"), better=LIKE_REAL)


def gf(explainer: str, rule: str) -> ComparedFigure:
    """GF of the graphs that a rule chooses; by an explainer's own rule runs of any age have it."""
    own = OUR_RULE if explainer == EXPLAINER_OF[OUR_ROW] else PAPERS_RULE
    return _GF if rule == own else replace(_GF, path=(SELECTION, rule, "gf"))


def faithfulness(setup: Setup) -> tuple[ComparedFigure, ComparedFigure]:
    """PF, which is of all candidates, and GF as the paper has it, of the graphs that its rule chooses."""
    return _PF, gf(setup.explainer, PAPERS_RULE)


def by_our_rule(row: str) -> str:
    """A row for the graphs that our rule chooses instead of the paper's."""
    return f"{row}, {OUR_RULE}"


def converted_form(dataset: str) -> Form:
    """The form of the paper's GCN: of a data set with one kind of node it is the paper's own model."""
    return "gcn" if DATASETS[dataset].several_kinds else "paper"


def setup_of(row: str, dataset: str, model: str) -> Setup:
    """The runs behind a row of the paper. Its row on a GCN has no other model."""
    explainer = EXPLAINER_OF[row]
    if row == GCN_ROW_OF_PAPER:
        return Setup(dataset, explainer, converted_form(dataset))
    if model == STRONG:
        return Setup(dataset, explainer)
    if row in (OUR_ROW, VAE_ROW):
        return Setup(dataset, explainer, "paper", FIFTY if dataset == "dblp" else ())
    return Setup(dataset, explainer, converted_form(dataset))


def yardstick(setup: Setup) -> Setup:
    """The runs of ours on the same model, whose floor and controls stand beside a row."""
    return Setup(setup.dataset, EXPLAINER_OF[OUR_ROW], setup.form, setup.columns, setup.by)


BOTH_MODELS = (STRONG, PAPERS)
