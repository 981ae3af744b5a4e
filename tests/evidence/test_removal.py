"""Effects of removal: exact ones of a linear model, and what they do not depend on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from dignn.core.errors import DignnError, ModelMismatchError
from dignn.core.json_types import restored
from dignn.evidence.neutral_rows import average_rows
from dignn.evidence.removal import Effects, removal_effects, strongest_columns
from dignn.evidence.removal_together import with_joint
from dignn.evidence.variants import Kind, Part, parts_of, steps_from, without
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind, FeatureSpec
from dignn.graphs.schema import Layout, Relation
from dignn.model.adapter import GNNAdapter
from evidence.planned import AVERAGES, SCHEMA, adapter, bibliography, model
from strategies import batch_of, plain_schema, random_batch
from tiny_models import TinyHetero

# By hand: own words 2 + 0.5; paper 1: 1.5 - 0.25 + 0.125, term 0.5 + 1, venue 3; paper 2: -0.75 + 0.125, cited 0.5
WHOLE = 2.5 + (1.375 + 1.5 + 3) + (-0.625 + 0.5)
DROPS = {
    Part(Kind.NODE, (1,)): 1.375 + 1.5 + 3 + 0.5,
    Part(Kind.NODE, (2,)): -0.625 + 0.5,
    Part(Kind.NODE, (3,)): 1.5,
    Part(Kind.NODE, (4,)): 3,
    Part(Kind.NODE, (5,)): 0,
    Part(Kind.EDGE, (0, 1)): 1.375 + 1.5 + 3,
    Part(Kind.EDGE, (0, 2)): -0.625 + 0.5,
    Part(Kind.EDGE, (5, 2)): 0,
    Part(Kind.EDGE, (1, 3)): 1.5,
    Part(Kind.EDGE, (1, 4)): 3,
    Part(Kind.EDGE, (1, 2)): 0.5,
    Part(Kind.COLUMN, (0,), (0,)): 2,
    Part(Kind.COLUMN, (0,), (1,)): 0.5,
    Part(Kind.COLUMN, (1,), (0,)): 1.5,
    Part(Kind.COLUMN, (1,), (1,)): -0.25,
    Part(Kind.COLUMN, (2,), (1,)): -0.75,
    Part(Kind.COLUMN, (4,), (0,)): 3,  # an identity becomes the mean of all members: (3 + 0 - 3) / 3
    Part(Kind.COLUMN, (5,), (2,)): 0,
    Part(Kind.ROW, (0,)): 2.5 - (1 + 0.125 - 0.25),
    Part(Kind.ROW, (1,)): 1.25 - 0.5,
    Part(Kind.ROW, (2,)): -0.75 - 0.5,
    Part(Kind.ROW, (3,)): 1.5 - (0.25 - 0.5),
    Part(Kind.ROW, (4,)): 3,
    Part(Kind.ROW, (5,)): 0,
    Part(Kind.OTHERS): WHOLE - 2.5,
}


def effects_of(graph: GraphBatch | None = None, node: int = 0, class_index: int = 1) -> Effects:
    return removal_effects(adapter(), bibliography() if graph is None else graph, node, class_index, AVERAGES)


def sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))


def test_a_linear_model_by_hand() -> None:
    found = effects_of()
    assert found.log_odds == pytest.approx(WHOLE)
    assert found.probability == pytest.approx(sigmoid(WHOLE))
    assert {effect.part: effect.drop for effect in found.effects} == pytest.approx(DROPS, abs=1e-6)
    for effect in found.effects:
        assert effect.probability == pytest.approx(sigmoid(WHOLE - DROPS[effect.part]), rel=1e-6)


def test_the_other_class_gains_what_this_one_loses() -> None:
    one, other = effects_of(), effects_of(class_index=0)
    assert [effect.drop for effect in other.effects] == pytest.approx([-(e.drop or 0) for e in one.effects], abs=1e-6)


def test_strongest_first() -> None:
    found = effects_of()
    assert [effect.part.nodes for effect in found.of(Kind.NODE)] == [(1,), (4,), (3,), (5,), (2,)]
    kept = [effect.part for effect in found.shortened(2).effects]
    single = [part for part in kept if part.kind is Kind.COLUMN]
    assert single == [Part(Kind.COLUMN, (0,), (0,)), Part(Kind.COLUMN, (4,), (0,))]
    assert len(kept) == len(found.effects) - 5


def test_strongest_columns_by_type() -> None:
    own, around = strongest_columns(effects_of(), bibliography())
    assert [(c.name, round(c.drop, 5), c.nodes, c.steps) for c in own] == [
        ("mining", 2, (0,), 0),
        ("query", 0.5, (0,), 0),
    ]
    expected = [("venue", "KDD", 3, (4,), 2), ("paper", "column 0", 1.5, (1,), 1)]
    assert [(c.node_type, c.name, round(c.drop, 5), c.nodes, c.steps) for c in around] == expected


def test_columns_of_several_nodes_are_summed() -> None:
    graph = replace(bibliography(), row=torch.tensor([[0, 0, 0, 0, 0, 0]]))
    _, around = strongest_columns(effects_of(graph), graph)
    paper = next(column for column in around if column.node_type == "paper")
    assert (paper.nodes, paper.drop) == ((1, 2), pytest.approx(3.0))


def test_the_order_of_nodes_does_not_matter() -> None:
    order = torch.tensor([[3, 5, 2, 0, 4, 1]])
    place = {old: new for new, old in enumerate(order[0].tolist())}
    moved = effects_of(bibliography().permute(order), place[0])
    expected = {replace(part, nodes=tuple(place[v] for v in part.nodes)): drop for part, drop in DROPS.items()}
    assert {effect.part: effect.drop for effect in moved.effects} == pytest.approx(expected, abs=1e-6)


def test_the_same_twice_and_as_json() -> None:
    found = effects_of()
    assert found == effects_of()
    assert restored(Effects, json.loads(json.dumps(asdict(found)))) == found


def test_without_averages_features_become_zero() -> None:
    found = removal_effects(adapter(), bibliography(), 0, 1)
    rows = {effect.part.nodes[0]: effect.drop for effect in found.of(Kind.ROW)}
    assert rows == pytest.approx({0: 2.5, 1: 1.25, 2: -0.75, 3: 1.5, 4: 3, 5: 0}, abs=1e-6)


def test_variants_keep_the_promises_of_a_batch() -> None:
    graph = bibliography()
    for averages in (AVERAGES, {}):
        parts = parts_of(graph, 0, averages)
        variants = without(graph, parts, averages, 0).check()
        assert len(variants) == len(parts)
        assert bool((variants.node_type[:, 0] == 0).all())


@pytest.mark.parametrize("seed", range(3))
def test_any_graph_by_scoring_variants_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_batch(SCHEMA, [7], rng)
    graph.node_type[0, 0] = 0
    graph = replace(graph, edge=torch.zeros_like(graph.edge), row=torch.zeros_like(graph.row))
    for u, v, code in ((0, 1, 1), (1, 2, 4)):
        graph.node_type[0, [1, 2]] = 1
        graph.edge[0, u, v] = code
    graph.edge[0, 1, 0] = 1
    tiny = GNNAdapter(TinyHetero(SCHEMA, seed=seed), SCHEMA)
    found = removal_effects(tiny, graph, 0, 1)
    for effect in found.effects:
        alone = tiny.score(without(graph, [effect.part], {}, 0))
        row = alone.node == 0
        assert effect.drop == pytest.approx(found.log_odds - float(alone.log_odds[row, 1]), abs=1e-4)


# -- what models cannot answer ------------------------------------------------------------------------


def fussy(kind: Callable[[HeteroData], bool]) -> Callable[[HeteroData], Tensor]:
    def answer(data: HeteroData) -> Tensor:
        if kind(data):
            raise RuntimeError("no edges")
        return model(data)

    return answer


def test_a_variant_that_a_model_fails_on_is_left_open() -> None:
    def lonely(data: HeteroData) -> bool:  # some graph of the batch has no paper that is cited
        cited = data["paper"].batch[data["paper", "cites", "paper"].edge_index[1]]
        return len(cited.unique()) < int(data["author"].batch.max()) + 1

    fails = {Part(Kind.NODE, (1,)), Part(Kind.NODE, (2,)), Part(Kind.EDGE, (1, 2)), Part(Kind.OTHERS)}
    found = removal_effects(GNNAdapter(fussy(lonely), SCHEMA), bibliography(), 0, 1, AVERAGES)
    assert {effect.part for effect in found.effects if effect.drop is None} == fails
    answered = {effect.part: effect.drop for effect in found.effects if effect.drop is not None}
    assert answered == pytest.approx({part: DROPS[part] for part in DROPS if part not in fails}, abs=1e-6)
    assert restored(Effects, json.loads(json.dumps(asdict(found)))) == found


def test_a_score_that_is_not_a_number_is_left_open() -> None:
    def odd(data: HeteroData) -> Tensor:
        scores = model(data)
        return torch.where(scores > 5.5, torch.nan, scores)

    graph = replace(bibliography(), edge=bibliography().edge.clone())
    graph.edge[0, 1, 4] = graph.edge[0, 4, 1] = 0
    found = removal_effects(GNNAdapter(odd, SCHEMA), graph, 0, 1, AVERAGES)
    open_parts = {effect.part for effect in found.effects if effect.drop is None}
    assert open_parts == {effect.part for effect in effects_of(graph).effects if WHOLE - 3 - (effect.drop or 0) > 5.5}
    assert open_parts


def test_a_model_that_fails_on_the_graph_itself() -> None:
    with pytest.raises(ModelMismatchError, match="no answer for the whole graph"):
        removal_effects(GNNAdapter(fussy(lambda _: True), SCHEMA), bibliography(), 0, 1)


def test_a_single_node() -> None:
    alone = bibliography()
    alone = without(alone, [Part(Kind.OTHERS)], {}, 0)[0]
    found = effects_of(alone)
    assert {effect.part.kind for effect in found.effects} == {Kind.COLUMN, Kind.ROW}
    assert found.log_odds == pytest.approx(2.5)


# -- other schemas ------------------------------------------------------------------------------------

ATOMS = replace(
    plain_schema(),
    node_types=("C", "O"),
    relations=(Relation("C", "to", "C", "to"), Relation("C", "to", "O", "to")),
    features=(FeatureSpec(),) * 2,
    classes=("no", "yes"),
    target=None,
    layout=Layout.HOMOGENEOUS,
    type_in_x=True,
)


def weigh(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
    """Every C counts 1, every O 2, every edge a quarter."""
    count = int(batch.max()) + 1
    score = torch.zeros(count).index_add(0, batch, x @ torch.tensor([1.0, 2.0]))
    score = score.index_add(0, batch[edge_index[0]], torch.full((edge_index.size(1),), 0.125))
    return torch.stack([torch.zeros(count), score], dim=1)


def test_graph_classification() -> None:
    graph = batch_of(ATOMS, [0, 0, 1], {(0, 1): 1, (1, 2): 2})
    found = removal_effects(GNNAdapter(weigh, ATOMS), graph, None, 1)
    expected = {
        Part(Kind.NODE, (0,)): 1.25,
        Part(Kind.NODE, (1,)): 1.5,
        Part(Kind.NODE, (2,)): 2.25,
        Part(Kind.EDGE, (0, 1)): 0.25,
        Part(Kind.EDGE, (1, 2)): 0.25,
    }
    assert {effect.part: effect.drop for effect in found.effects} == pytest.approx(expected, abs=1e-6)
    assert strongest_columns(found, graph) == ((), ())


def test_the_only_node_of_a_graph_cannot_be_removed() -> None:
    found = removal_effects(GNNAdapter(weigh, ATOMS), batch_of(ATOMS, [1], {}), None, 1)
    assert [(effect.part, effect.drop) for effect in found.effects] == [(Part(Kind.NODE, (0,)), None)]


def test_averages_of_every_kind() -> None:
    graph = replace(bibliography())
    found = average_rows(graph)
    assert found["author"].tolist() == [0.5, 0.5, 0.5]
    assert found["paper"].tolist() == [1, 2]
    assert found["venue"].tolist() == pytest.approx([1 / 3] * 3)
    spec = FeatureSpec(FeatureKind.CATEGORICAL, 2, levels=(3, 3))
    schema = replace(plain_schema(), features=(spec,), layout=Layout.HETERO)
    codes = replace(batch_of(schema, [0], {}), tables={"node": torch.tensor([[2.0, 0], [2, 1], [0, 1]])})
    assert average_rows(codes)["node"].tolist() == [2, 1]


def test_a_code_of_zero_is_a_value_like_any_other() -> None:
    """Codes 0 and 2 where 1 is usual are removed, the usual code is not: nothing would change."""
    spec = FeatureSpec(FeatureKind.CATEGORICAL, 3, levels=(3, 3, 3))
    schema = replace(
        plain_schema(),
        features=(spec,),
        classes=("x", "y"),
        target="node",
        task=None,
        layout=Layout.HOMOGENEOUS,
        relations=(),
    )
    graph = replace(
        batch_of(schema, [0], {}), tables={"node": torch.tensor([[0.0, 1, 2]])}, row=torch.zeros(1, 1).long()
    )

    def absent(x: Tensor, edge_index: Tensor) -> Tensor:
        score = 2 * (x[:, 0] == 0).float() + (x[:, 2] == 2).float()
        return torch.stack([torch.zeros_like(score), score], dim=1)

    found = removal_effects(GNNAdapter(absent, schema), graph, 0, 1, {"node": torch.ones(3)})
    drops = {effect.part.columns: effect.drop for effect in found.of(Kind.COLUMN)}
    assert drops == pytest.approx({(0,): 2.0, (2,): 1.0})


def test_columns_are_limited_and_near_ones_come_first() -> None:
    wide = FeatureSpec(FeatureKind.BINARY, 100)
    schema = replace(
        plain_schema(), features=(wide,), classes=("x", "y"), target="node", task=None, layout=Layout.HETERO
    )
    path = batch_of(schema, [0] * 9, {(i, i + 1): 1 for i in range(8)})
    graph = replace(path, tables={"node": torch.ones(1, 100)}, row=torch.zeros_like(path.row))
    parts = [part for part in parts_of(graph, 4, {"node": torch.linspace(0, 1, 100)}) if part.kind is Kind.COLUMN]
    assert len(parts) == 400
    assert {part.columns[0] for part in parts[:60]} == set(range(60))  # those that are rare
    assert [parts[i].nodes[0] for i in range(0, 400, 60)] == [4, 3, 5, 2, 6, 1, 7]
    assert steps_from(graph, 4) == [4, 3, 2, 1, 0, 1, 2, 3, 4]


# -- together -----------------------------------------------------------------------------------------


def test_words_that_stand_in_for_each_other() -> None:
    """Any of the three words does: no single one matters, all together do."""

    def either(data: HeteroData) -> Tensor:
        score = 8 * data["author"].x.amax(1) - 4
        return torch.stack([torch.zeros_like(score), score], dim=1)

    graph = bibliography()
    graph = replace(graph, tables={**graph.tables, "author": torch.tensor([[1.0, 1, 1], [0, 0, 0]])})
    stand_in = GNNAdapter(either, SCHEMA)
    single = removal_effects(stand_in, graph, 0, 1, {"author": torch.zeros(3)})
    found = with_joint(stand_in, graph, single, {"author": torch.zeros(3)})
    assert max(effect.drop or 0 for effect in single.of(Kind.COLUMN)) == 0
    (joint,) = [effect for effect in found.effects if effect.part.kind is Kind.COLUMN and effect.part.joint]
    assert sorted(joint.part.columns) == [0, 1, 2]
    assert joint.drop == pytest.approx(8)
    assert joint not in found.of(Kind.COLUMN)


def test_errors() -> None:
    with pytest.raises(DignnError, match="one graph, but 2"):
        removal_effects(adapter(), GraphBatch.cat([bibliography()] * 2), 0, 1)
    with pytest.raises(DignnError, match="so give (the position of one|no node)"):
        removal_effects(adapter(), bibliography(), None, 1)
    with pytest.raises(DignnError, match="none of the nodes of type 'author'"):
        removal_effects(adapter(), bibliography(), 1, 1)
