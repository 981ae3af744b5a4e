"""Explanations for PyTorch Geometric: masks are the falls of the probability, and its own functions take them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import torch
from torch_geometric.explain import Explanation as HomogeneousExplanation
from torch_geometric.explain import HeteroExplanation

import hand_made
from dignn import DignnError, infer_schema
from dignn.evidence.gathering import ExplainedClass, gather
from dignn.evidence.variants import Kind
from dignn.explanations.explanation import Explanation
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Relation, Schema
from dignn.model.adapter import GNNAdapter
from strategies import batch_of, random_batch, rings_and_stars
from tiny_models import TinyGCN, TinyHetero

matplotlib.use("Agg")


def explained(adapter: GNNAdapter, graph: GraphBatch, node: int | None, real: GraphBatch) -> Explanation:
    """What an explainer would say of a graph, of the class that the model is surest of."""
    scores = adapter.score(graph)
    row = 0 if node is None else scores.node.tolist().index(node)
    probability = scores.probability[row]
    index = int(probability.argmax())
    what: ExplainedClass = (graph, node, index)
    (evidence,) = gather(adapter, [what], real)
    name = graph.schema.classes[index]
    odds = float(scores.log_odds[row, index])
    return Explanation(index, name, 0, tuple(probability.tolist()), odds, graph, node, 0, evidence=evidence)


def graph_with_edges(schema: Schema, size: int) -> GraphBatch:
    rng = np.random.default_rng(3)
    while True:
        made = random_batch(schema, [size], rng)
        enough = (made.edge > 0).any() and (schema.target is None or made.target_mask.any())
        if enough and len(set(made.node_type[0].tolist())) == len(schema.node_types):
            return made


def hetero() -> Explanation:
    graph = graph_with_edges(hand_made.schema(), 8)
    real = GraphBatch.cat([graph, graph_with_edges(hand_made.schema(), 9)])
    node = int(graph.target_mask[0].nonzero()[-1])
    return explained(GNNAdapter(TinyHetero(graph.schema), graph.schema), graph, node, real)


def homogeneous() -> Explanation:
    words = FeatureSpec(FeatureKind.BINARY, 4, names=("a", "b", "c", "d"))
    relation = Relation("node", "to", "node", "to")
    schema = Schema(("node",), (relation,), (words,), ("one", "two"), "node", layout=Layout.HOMOGENEOUS)
    graph = graph_with_edges(schema, 7)
    return explained(GNNAdapter(TinyGCN(4, 2, pool=False), schema), graph, 3, graph)


def whole_graph() -> Explanation:
    graphs = rings_and_stars()
    for number, data in enumerate(graphs):
        data.x = torch.randint(0, 2, (data.num_nodes, 3), generator=torch.Generator().manual_seed(number)).float()
    schema = infer_schema(graphs)
    batch = from_pyg(graphs, schema)
    return explained(GNNAdapter(TinyGCN(3, schema.num_classes, pool=True), schema), batch[0], None, batch)


KINDS = {"HeteroData": hetero, "Data": homogeneous, "graphs": whole_graph}


@pytest.fixture(scope="module", params=KINDS)
def shown(request: pytest.FixtureRequest) -> Explanation:
    return KINDS[request.param]()


def falls(explanation: Explanation, kind: Kind) -> dict[tuple[int, ...], float]:
    """By nodes and columns, how far the probability falls, from the evidence in plain words."""
    assert explanation.evidence is not None
    effects = explanation.evidence.effects
    return {
        effect.part.nodes + effect.part.columns: max(0.0, effects.probability - (effect.probability or 0.0))
        for effect in effects.effects
        if effect.part.kind is kind and not effect.part.joint and effect.probability is not None
    }


def places(explanation: Explanation) -> list[tuple[str, int]]:
    """Type and row of every node, by position."""
    graph = explanation.graph
    if graph.schema.layout is Layout.HOMOGENEOUS:
        return [("", node) for node in range(int(graph.sizes[0]))]
    seen: dict[str, int] = {}
    found = []
    for code in graph.node_type[0].tolist():
        name = graph.schema.node_types[code]
        found.append((name, seen.get(name, 0)))
        seen[name] = seen.get(name, 0) + 1
    return found


@pytest.mark.parametrize("masks", ["nodes", "features"])
def test_it_is_a_valid_explanation_of_the_same_graph(shown: Explanation, masks: str) -> None:
    found, data = shown.to_pyg(masks), shown.to_hetero_data()  # type: ignore[arg-type]
    assert found.validate()
    hetero = shown.graph.schema.layout is Layout.HETERO
    assert isinstance(found, HeteroExplanation if hetero else HomogeneousExplanation)
    for store, known in zip(found.stores, data.stores, strict=True):
        for key, value in known.items():
            assert torch.equal(store[key], value) if isinstance(value, torch.Tensor) else store[key] == value


def test_masks_of_nodes_and_edges_are_falls_of_the_probability(shown: Explanation) -> None:
    found = shown.to_pyg()
    expected = {nodes[0]: fall for nodes, fall in falls(shown, Kind.NODE).items()}
    if shown.node is not None:
        expected[shown.node] = shown.score  # without it there is no answer
    for node, (name, row) in enumerate(places(shown)):
        mask = (found[name] if name else found).node_mask
        assert mask.size(1) == 1
        assert float(mask[row]) == pytest.approx(expected.get(node, 0.0), abs=1e-6)
    edges = falls(shown, Kind.EDGE)
    assert edges
    position = {place: node for node, place in enumerate(places(shown))}
    count = 0
    for store in found.edge_stores:
        source, _, target = store._key or ("", "", "")
        reverse = {r.reverse_edge_type for r in shown.graph.schema.relations if r.directed}
        for (i, j), value in zip(store.edge_index.t().tolist(), store.edge_mask.tolist(), strict=True):
            u, v = position[source, i], position[target, j]
            ways = [(v, u)] if store._key in reverse else [(u, v), (v, u)]
            assert value == pytest.approx(next(edges[way] for way in ways if way in edges), abs=1e-6)
            count += 1
    assert count >= len(edges)


def test_masks_of_features_are_falls_and_untried_columns_have_none(shown: Explanation) -> None:
    found = shown.to_pyg("features")
    expected = falls(shown, Kind.COLUMN)
    assert expected
    tried: dict[str, set[int]] = {}
    for node, (name, row) in enumerate(places(shown)):
        mask = (found[name] if name else found).node_mask
        kind = shown.graph.schema.node_types[int(shown.graph.node_type[0, node])]
        for column in range(mask.size(1)):
            assert float(mask[row, column]) == pytest.approx(expected.get((node, column), 0.0), abs=1e-6)
            if (node, column) in expected:
                tried.setdefault(kind, set()).add(column)
    for name, labels in found.columns.items():
        rest = [label for column, label in enumerate(labels) if column not in tried.get(name, ())]
        assert found.untried_columns[name] == rest


def test_columns_that_nobody_tries_are_listed() -> None:
    """Anonymous continuous columns are not removed one by one."""
    found = hetero().to_pyg("features")
    assert found.untried_columns["paper"] == ["column 0", "column 1"] == found.columns["paper"]
    assert not found["paper"].node_mask.any()


def test_it_knows_the_class_the_probabilities_and_the_classified_node(shown: Explanation) -> None:
    found = shown.to_pyg()
    row = 0 if shown.row is None else shown.row
    assert found.target[row] == shown.class_index
    assert found.prediction[row].tolist() == pytest.approx(shown.probability)
    assert (found.target == -1).sum() == found.prediction.isnan().any(1).sum() == len(found.target) - 1
    if shown.row is None:
        assert "index" not in found
    else:
        assert found.index.tolist() == [shown.row]


@pytest.mark.parametrize("masks", ["nodes", "features"])
def test_subgraphs_of_pytorch_geometric(shown: Explanation, masks: str) -> None:
    found = shown.to_pyg(masks)  # type: ignore[arg-type]
    some, rest = found.get_explanation_subgraph(), found.get_complement_subgraph()
    assert some.validate()
    assert rest.validate()
    for store in some.node_stores:
        assert "node_mask" not in store or bool((store.node_mask.sum(1) > 0).all())
    for store in rest.edge_stores:
        assert not store.edge_mask.any()
    if masks == "nodes" and shown.node is not None:
        kept = some if isinstance(some, HomogeneousExplanation) else some[str(shown.graph.schema.target)]
        assert kept.num_nodes  # the classified one at least


def test_pytorch_geometric_draws_the_graph(shown: Explanation, tmp_path: Path) -> None:
    path = tmp_path / "graph.png"
    found = shown.to_pyg()
    if isinstance(found, HeteroExplanation):
        found.visualize_graph(str(path))
    else:
        found.visualize_graph(str(path), backend="networkx")
    assert path.stat().st_size > 1000


def test_feature_labels_fit_the_scores(shown: Explanation, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn, without drawing it."""
    drawn: list[tuple[torch.Tensor, list[str]]] = []
    monkeypatch.setattr(
        "torch_geometric.explain.explanation._visualize_score",
        lambda score, labels, *_: drawn.append((score, labels)),
    )
    found = shown.to_pyg("features")
    labels = found.columns if isinstance(found, HeteroExplanation) else found.columns["node"]
    found.visualize_feature_importance(feat_labels=labels)
    ((score, named),) = drawn
    assert len(score) == len(named)
    assert float(score.sum()) == pytest.approx(sum(falls(shown, Kind.COLUMN).values()), abs=1e-5)


def test_pytorch_geometric_draws_features(shown: Explanation, tmp_path: Path) -> None:
    found = shown.to_pyg("features")
    found.visualize_feature_importance(str(tmp_path / "features.png"), top_k=3)
    assert (tmp_path / "features.png").stat().st_size > 1000


def test_values_are_not_negative_and_what_has_no_answer_is_0() -> None:
    found = hand_made.explanation().to_pyg()
    assert found["paper"].node_mask[:, 0].tolist() == pytest.approx([0.45, 0.05])
    assert found["venue"].node_mask.tolist() == [[0.0]]  # the model gives no answer without it
    assert found["paper", "cites", "paper"].edge_mask.tolist() == [0.0]  # the probability rises
    assert found["author", "writes", "paper"].edge_mask.tolist() == pytest.approx([0.35, 0.0])
    assert found["paper", "written_by", "author"].edge_mask.tolist() == pytest.approx([0.35, 0.0])


def test_a_node_type_may_be_called_like_an_attribute() -> None:
    schema = Schema(
        ("target", "index"), (Relation("target", "to", "index"),), (FeatureSpec(), FeatureSpec()), ("a", "b"), "target"
    )
    graph = batch_of(schema, [0, 1], {(0, 1): 1})
    known = hand_made.explanation()
    assert known.evidence is not None
    evidence = replace(known.evidence, effects=replace(known.evidence.effects, node=0, effects=()))
    found = Explanation(1, "b", 0, (0.25, 0.75), 1.1, graph, 0, 0, evidence=evidence).to_pyg()
    assert found["target"].node_mask.tolist() == [[0.75]]
    assert found["index"].node_mask.tolist() == [[0.0]]
    assert found.prediction.tolist() == [[0.25, 0.75]]


def test_types_in_x_are_columns_that_nobody_tried() -> None:
    schema = Schema(
        ("C", "O"),
        (Relation("C", "to", "O", "to"),),
        (FeatureSpec(), FeatureSpec()),
        ("a", "b"),
        layout=Layout.HOMOGENEOUS,
        type_in_x=True,
    )
    graph = batch_of(schema, [0, 1, 1], {(0, 1): 1, (0, 2): 1})
    adapter = GNNAdapter(TinyGCN(2, 2, pool=True), schema)
    found = explained(adapter, graph, None, graph).to_pyg("features")
    assert found.validate()
    assert found.node_mask.tolist() == [[0.0, 0.0]] * 3
    assert found.untried_columns == {"C": ["C", "O"], "O": ["C", "O"]}


@pytest.mark.parametrize(
    ("masks", "message"),
    [("node", "masks is 'node' .did you mean 'nodes'..; choose from nodes, features"), (3, "masks is 3; choose from")],
)
def test_other_masks_are_named(masks: object, message: str) -> None:
    with pytest.raises(DignnError, match=message):
        hand_made.explanation().to_pyg(masks)  # type: ignore[arg-type]


def test_without_evidence_or_columns_it_says_so() -> None:
    with pytest.raises(DignnError, match="carries no evidence to make masks from; take one that"):
        hand_made.explanation(bare=True).to_pyg()
    known = hand_made.explanation()
    assert known.evidence is not None
    evidence = replace(known.evidence, effects=replace(known.evidence.effects, node=0, effects=()))
    with pytest.raises(DignnError, match="masks is 'features', but .* no feature columns; give masks='nodes'"):
        replace(hand_made.lone(), evidence=evidence).to_pyg("features")
