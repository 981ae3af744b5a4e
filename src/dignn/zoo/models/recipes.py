"""Which model is trained on which data set, and how.

Every data set has two forms. ``paper`` is the model as the paper describes it (its appendix "Hyperparameters");
``strong`` is what we recommend to explain: right on the whole data, and still right on graphs as small as
explanations. ``gcn`` is the paper's GCN of a heterogeneous data set that was converted to one kind of node
(:func:`in_form`). ``docs/models.md`` has the measurements.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args

from torch import nn

from dignn.core.errors import DignnError
from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.schema import Layout, Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.one_kind import as_homogeneous
from dignn.zoo.models.settings import Form

FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class TrainedModel:
    """A model in evaluation mode and its card: what it is, how it was made, how well it does, as JSON values."""

    model: nn.Module
    card: dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """How a model is made.

    Args:
        architecture: a name in :data:`dignn.zoo.models.architectures.ARCHITECTURES`.
        arguments: constructor arguments that the schema does not tell.
        learning_rate, weight_decay: of Adam.
        epochs: at most; one step on the full graph, or one pass over all graphs.
        patience: epochs without improvement on the validation set after which training stops.
        clip: largest gradient norm, or None.
        subgraphs: (node classification) small subgraphs in every step, beside the full graph; 0 for none.
        pool: how many subgraphs are drawn to train on, once.
        held_out: how many are drawn to validate on (if any are trained on), and again to test on.
        graphs: (graph classification) graphs in a step.
        cut: (graph classification) also train on graphs cut down to one motif, where the truth is known.
        constant: node types whose features the model does not look at.
        unit_rows: whether rows of word features are scaled to length 1.
    """

    architecture: str
    arguments: dict[str, Any] = field(default_factory=dict)
    learning_rate: float = 0.005
    weight_decay: float = 0.0
    epochs: int = 1000
    patience: int = 100
    clip: float | None = None
    subgraphs: int = 0
    pool: int = 4096
    held_out: int = 1200
    graphs: int = 128
    cut: bool = False
    constant: tuple[str, ...] = ()
    unit_rows: bool = False


_SAGE = Recipe("HeteroSAGE", {"hidden": 64, "layers": 2}, learning_rate=0.005, weight_decay=0.001)
_HAN = Recipe("HAN", {"hidden": 128, "heads": 8, "dropout": 0.6}, learning_rate=0.005, weight_decay=0.001)
_GCN = Recipe("GCN", {"hidden": 64, "dropout": 0.5}, learning_rate=0.005)
_GCN_GRAPHS = replace(_GCN, arguments=_GCN.arguments | {"pooling": "mean"})

_SAGE_STRONG = replace(
    _SAGE,
    arguments={"hidden": 64, "layers": 3, "aggregations": ["mean", "sum"], "norm": True, "dropout": 0.3},
    learning_rate=0.01,
    weight_decay=5e-4,
    clip=2.0,
    subgraphs=128,
    unit_rows=True,
)
_MOTIF = Recipe("MotifGNN", {"hidden": 32, "layers": 3}, learning_rate=0.005, epochs=600, clip=2.0, subgraphs=128)
_MOTIF_GRAPHS = replace(
    _MOTIF, arguments=_MOTIF.arguments | {"pooling": "mean"}, learning_rate=0.01, epochs=400, graphs=256
)

# The defaults of a form, by task; what a data set does otherwise is in RECIPES.
DEFAULTS: dict[Form, dict[str, Recipe]] = {
    "paper": {"hetero": _SAGE, "nodes": _GCN, "graphs": _GCN_GRAPHS},
    "strong": {"hetero": _SAGE_STRONG, "nodes": _MOTIF, "graphs": _MOTIF_GRAPHS},
    "gcn": {"nodes": _GCN},
}

_MUTAG = replace(_GCN_GRAPHS, arguments=_GCN_GRAPHS.arguments | {"dropout": 0.3}, learning_rate=0.0005)

RECIPES: dict[Form, dict[str, Recipe]] = {
    "paper": {
        "dblp": replace(_SAGE, constant=("conference",)),
        "imdb": _HAN,
        "mutag": _MUTAG,
        "mutag-untyped": _MUTAG,
        # The paper does not say how nodes are joined; with mean or sum this GCN hardly leaves chance.
        "ba-3motif": replace(_GCN, arguments=_GCN.arguments | {"pooling": "max"}, epochs=150),
    },
    "strong": {
        "dblp": replace(
            _SAGE_STRONG,
            arguments={"hidden": 32, "layers": 2, "dropout": 0.5, "row_dropout": {"author": 0.5, "paper": 0.8}},
        ),
        "imdb": replace(_HAN, arguments=_HAN.arguments | {"feature_dropout": 0.6}, clip=2.0, subgraphs=128),
        # From corner to corner of a 3 x 3 grid it is four steps.
        "tree-grids": replace(_MOTIF, arguments=_MOTIF.arguments | {"layers": 4}),
        "ba-3motif": replace(
            _MOTIF_GRAPHS,
            arguments=_MOTIF.arguments | {"pooling": "sum"},
            learning_rate=0.005,
            epochs=40,
            graphs=128,
            cut=True,
        ),
    },
    "gcn": {},
}


def in_form(dataset: Dataset, form: Form) -> tuple[Dataset, Form]:
    """The data that a form of model is trained on, and which form it is of there.

    For ``gcn`` a heterogeneous data set is converted; of data with one kind of node the paper's model is a GCN.
    """
    if form != "gcn":
        return dataset, form
    converted = as_homogeneous(dataset)
    return converted, "gcn" if converted.homogeneous else "paper"


def recipe(dataset: Dataset, form: Form = "strong") -> Recipe:
    """The recipe for a data set; data sets without one of their own get that of their kind of task.

    Raises:
        DignnError: if the form is unknown or not of this data, or the task is one that no model here can do.
    """
    if form not in FORMS:
        raise DignnError(f"Unknown form '{form}'; choose from {', '.join(FORMS)}")
    if form == "gcn" and not dataset.homogeneous:
        raise DignnError(f"Form gcn is of converted data; train what in_form(dataset, 'gcn') makes of '{dataset.name}'")
    return RECIPES[form].get(dataset.name) or DEFAULTS[form][_kind(dataset.schema)]


def as_json(recipe: Recipe) -> dict[str, Any]:
    """A recipe as plain JSON values, for cards."""
    return json.loads(json.dumps(asdict(recipe)))


def _kind(schema: Schema) -> str:
    if schema.layout is Layout.HETERO and schema.task.of_graphs:
        raise DignnError("No model here classifies heterogeneous graphs as a whole; train your own and explain that")
    if schema.layout is Layout.HETERO:
        return "hetero"
    return "graphs" if schema.task.of_graphs else "nodes"


def arguments(recipe: Recipe, schema: Schema) -> dict[str, Any]:
    """All constructor arguments of a recipe's model on data of this schema, as JSON values."""
    given = {"classes": schema.num_classes} | recipe.arguments
    if schema.layout is Layout.HOMOGENEOUS:
        width = len(schema.node_types) if schema.type_in_x else schema.features[0].width
        if not width:
            raise DignnError("The graphs have no node features x; give every node a constant one, such as 1")
        return {"in_channels": width} | given
    words = [name for name in schema.node_types if schema.spec(name).kind in (FeatureKind.BINARY, FeatureKind.COUNT)]
    return {
        "widths": {name: schema.spec(name).width for name in schema.node_types},
        "edge_types": [list(edge_type) for edge_type in schema.edge_types],
        "target": schema.target,
        "unit_rows": words if recipe.unit_rows else [],
        "constant": list(recipe.constant),
    } | given
