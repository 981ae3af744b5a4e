"""Edges that carry average features instead of their own: what the model says then, and how it is put."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from carrying_graphs import bonded, friends
from dignn import infer_schema
from dignn.evidence.clauses import feature_clauses
from dignn.evidence.edge_variants import average_edge_rows, average_words, averaged, carried_words, unusual_edges
from dignn.evidence.neutral_rows import STEPPED, average_row
from dignn.evidence.removal import Effects, removal_effects
from dignn.evidence.sentences import sentences
from dignn.evidence.variants import Kind, Part, without
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg, to_pyg
from dignn.graphs.edge_tables import edge_values, own_cells
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.model.adapter import GNNAdapter


def star() -> Data:
    """Person 0 has two friends, one of them dear; the two know each other a little."""
    edges = torch.tensor([[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]])
    weight = torch.tensor([9.5, 9.5, 1.5, 1.5, 1.0, 1.0])
    return Data(x=torch.eye(3)[:, :2], edge_index=edges, edge_weight=weight, y=torch.tensor([0, 1, 1]))


def model(data: Data) -> Tensor:
    """Log-odds of the second class: the weights of a node's edges."""
    total = torch.zeros(data.num_nodes).index_add(0, data.edge_index[1], data.edge_weight)
    return torch.stack([torch.zeros_like(total), total - 5.5], dim=1)


def one() -> tuple[GraphBatch, dict[str, Tensor], GNNAdapter]:
    schema = infer_schema(star(), "person")
    graph = from_pyg(star(), schema)
    return graph, average_edge_rows(graph), GNNAdapter(model, schema)


def effects_of(graph: GraphBatch, averages: dict[str, Tensor], adapter: GNNAdapter) -> Effects:
    return removal_effects(adapter, graph, 0, 1, averages)


def test_effects_are_those_of_the_model_called_by_hand() -> None:
    graph, averages, adapter = one()
    assert averages == {"person -to- person": torch.tensor([4.0])}
    found = {effect.part.nodes: effect for effect in effects_of(graph, averages, adapter).of(Kind.EDGE_ROW)}
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    assert found[0, 1].drop == pytest.approx(9.5 - 4, abs=1e-4)
    assert found[0, 2].drop == pytest.approx(1.5 - 4, abs=1e-4)
    assert found[1, 2].drop == pytest.approx(0.0, abs=1e-4)
    (joint,) = (
        effect
        for effect in effects_of(graph, averages, adapter).effects
        if effect.part.kind is Kind.EDGE_ROW and effect.part.joint
    )
    assert joint.drop == pytest.approx(11 - 8, abs=1e-4)


def test_variants_change_rows_of_these_edges_alone() -> None:
    graph, averages, _ = one()
    parts = [Part(Kind.EDGE_ROW, (0, 1)), Part(Kind.EDGE, (0, 2)), Part(Kind.NODE, (2,))]
    changed = to_pyg(without(graph, parts, averages, 0).check())
    assert changed[0].edge_weight.tolist() == [4.0, 1.5, 4.0, 1.0, 1.5, 1.0]
    assert changed[1].edge_weight.tolist() == [9.5, 9.5, 1.0, 1.0]
    assert changed[2].edge_weight.tolist() == [9.5, 9.5]
    assert to_pyg(graph)[0].edge_weight.tolist() == [9.5, 1.5, 9.5, 1.0, 1.5, 1.0]


def test_both_directions_become_average_where_they_have_rows_of_their_own() -> None:
    data = friends(one_row=False)
    schema = infer_schema(data, "person")
    graph = Adjacency.build(data, schema).induced([list(range(12))])
    averages = average_edge_rows(graph)
    (pair, *_) = unusual_edges(graph, averages)
    row, tables = averaged(graph, [[pair], []], averages)
    assert row is not None
    (table,) = tables.values()
    (average,) = averages.values()
    u, v = pair
    assert torch.equal(table[row[0, [u, v], [v, u]]], average.repeat(2, 1))
    ((label, own),) = graph.edge_tables.items()
    here = graph.edge[0] > 0
    assert torch.equal(table[row[1][here]], own[graph.edge_row[0][here]])
    assert label == "person -to- person"


def test_the_usual_category_is_one_of_them() -> None:
    graphs = bonded()
    batch = from_pyg(graphs, infer_schema(graphs))
    (average,) = average_edge_rows(batch).values()
    (label,) = batch.edge_tables
    rows = edge_values(batch, label, own_cells(batch, batch.node_type, label))
    assert average.sum() == 1
    assert int(average.argmax()) == int(batch.edge_tables[label].sum(0).argmax())
    assert len(rows) == len(batch.edge_tables[label])


def test_each_column_is_averaged_over_the_values_that_are_there() -> None:
    kinds = (ColumnKind.CATEGORICAL, ColumnKind.CATEGORICAL)
    columns = (*(Column(kind, levels=9, missing=True) for kind in kinds), Column(ColumnKind.COUNT, levels=9))
    lost = torch.nan
    rows = torch.tensor([[3, 1, 1], [3, 2, 1], [3, 4, 5], [lost, 4, 1], [lost, 4, 1], [lost, lost, 0.0]])
    spec = FeatureSpec(FeatureKind.MIXED, 3, columns=columns)
    assert average_row(rows, spec, STEPPED).tolist() == [3, 4, 1]
    alike = FeatureSpec(FeatureKind.CATEGORICAL, 3, levels=(9, 9, 9))
    assert average_row(rows[:3], alike, STEPPED).tolist() == [3, 1, 1]
    members = FeatureSpec(FeatureKind.IDENTITY, 3)
    assert average_row(torch.eye(3)[[0, 2, 2, 1]], members, STEPPED).tolist() == [0, 0, 1]


def test_sentences_say_what_happens_with_an_average_weight() -> None:
    graph, averages, adapter = one()
    effects = effects_of(graph, averages, adapter)
    kept = [effect for effect in effects.effects if effect.part.kind is Kind.EDGE_ROW]
    told = sentences(graph, Effects(1, 0, effects.probability, effects.log_odds, tuple(kept)), (), ())
    assert "the weight of its edge to a person next to it speaks for it" in told
    assert "With an average weight on the edge between the person itself and one of the two people next to it" in told
    assert "the probability falls to 50 %" in told
    (clause,) = feature_clauses(graph, Effects(1, 1, 0.9, 2.0, tuple(kept[:1])), (), ())
    assert clause.subject == "the weight of its edge to a person next to it"


@pytest.mark.parametrize(
    ("names", "kind", "words"),
    [
        (("edge_weight",), FeatureKind.CONTINUOUS, "weight"),
        (("trust",), FeatureKind.CONTINUOUS, "trust"),
        (("edge_attr",), FeatureKind.CONTINUOUS, "features"),
        (None, FeatureKind.BINARY, "features"),
        (("edge_attr 0", "edge_attr 1"), FeatureKind.CONTINUOUS, "features"),
    ],
)
def test_what_edges_carry_has_a_name_where_a_reader_knows_it(
    names: tuple[str, ...] | None, kind: FeatureKind, words: str
) -> None:
    assert carried_words(FeatureSpec(kind, len(names or "x"), names=names)) == words


def test_words_of_categories() -> None:
    graphs = bonded()
    graph = from_pyg(graphs, infer_schema(graphs))[0]
    u, v = graph.edge[0].nonzero()[0].tolist()
    assert average_words(graph, u, v) == "the usual features"
