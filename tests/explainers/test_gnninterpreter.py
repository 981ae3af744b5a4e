"""GNNInterpreter: its gradient by quadrature, its terms by brute force, and what its graphs are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing, global_add_pool

from dignn.core.errors import DignnError, ModelMismatchError, NotNumbersError
from dignn.core.seeds import Seed
from dignn.explainers.base import CANDIDATES
from dignn.explainers.methods.gnninterpreter.distribution_learning import Learning
from dignn.explainers.methods.gnninterpreter.distributions import Distributions
from dignn.explainers.methods.gnninterpreter.explainer import DISTRIBUTIONS, GNNInterpreter
from dignn.explainers.methods.gnninterpreter.feature_relaxation import FeatureRelaxation
from dignn.explainers.methods.gnninterpreter.objective import beyond_budget, connectivity, next_budget_weight, norms
from dignn.explainers.methods.gnninterpreter.settings import PRESETS, InterpreterSettings
from dignn.explainers.methods.gnninterpreter.slots import PairFrequencies, Slots
from dignn.explainers.registry import EXPLAINERS
from dignn.graphs.batch import GraphBatch
from dignn.graphs.conversion import from_pyg
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.inference import infer_schema
from dignn.graphs.schema import Schema
from dignn.graphs.validity import check_validity
from dignn.metrics.controls import control_sets
from dignn.model.adapter import GNNAdapter
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from strategies import rings_and_stars
from tiny_models import TinyGCN, TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SMALL = replace(PRESETS["smoke"], candidates=24, iterations=12)


class Degrees(MessagePassing):
    """Sums of what neighbours have."""

    def forward(self, x: Tensor | tuple[Tensor, Tensor], edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x)


class Hubs(nn.Module):
    """A graph is of the second class if a node has about four neighbours or more: stars, and no rings."""

    def __init__(self, steep: float = 2.0, middle: float = 3.5) -> None:
        super().__init__()
        self.degrees, self.steep, self.middle = Degrees(), steep, middle

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        hub = (self.steep * (self.degrees(torch.ones_like(x[:, :1]), edge_index) - self.middle)).sigmoid()
        score = 8 * global_add_pool(hub, batch) - 4
        return torch.cat([-score / 2, score / 2], dim=1)


class Topics(nn.Module):
    """An author is of the class whose quarter of the columns its own row and its papers have most of."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        kinds = [kind for kind in schema.edge_types if (kind[0], kind[2]) == ("paper", "author")]
        self.kind, self.papers = kinds[0], Degrees()
        classes = schema.num_classes
        for name in ("author", "paper"):
            width = schema.spec(name).width
            self.register_buffer(name, torch.eye(classes)[torch.arange(width) * classes // width])
        self.head = nn.Linear(classes, classes)
        nn.init.eye_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> Tensor:
        papers = x_dict["paper"] @ self.paper
        around = self.papers((papers, x_dict["author"] @ self.author), edge_index_dict[self.kind])
        return self.head(around + x_dict["author"] @ self.author)


# -- the gradient -------------------------------------------------------------------------------------

LOGITS = np.array([0.3, -0.8, 1.1])  # of the edges 01, 02 and 12
TEMPERATURES = (0.6, 0.3, 0.15)


def hub_score(edges: list[np.ndarray]) -> np.ndarray:
    """What :class:`Hubs` (steep 2, middle 1) says of three nodes for the second class, from weights of edges."""
    one, two, three = edges
    degrees = (one + two, one + three, two + three)
    return np.asarray(4 * sum(1 / (1 + np.exp(-2 * (degree - 1))) for degree in degrees) - 2)


def relaxed_mean(logits: np.ndarray, temperature: float, reach: float = 16.0, points: int = 48) -> float:
    """E[score] over relaxed edges by Gauss-Legendre quadrature.

    A relaxed edge is sigmoid(s), s = (logit + noise) / temperature, noise logistic; beyond the reach it is 0 or 1.
    """
    place, weight = np.polynomial.legendre.leggauss(points)
    s = reach * place

    def below(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-x))

    edges, masses = [], []
    for logit in logits:
        density = below(temperature * s - logit) * below(logit - temperature * s) * temperature
        low, high = below(np.array([-temperature * reach - logit, logit - temperature * reach]))
        edges.append(np.concatenate([[0.0], below(s), [1.0]]))
        masses.append(np.concatenate([[low], reach * weight * density, [high]]))
    score = hub_score(np.meshgrid(*edges, indexing="ij"))
    return float(np.einsum("ijk,i,j,k->", score, *masses))


def discrete_mean(logits: np.ndarray) -> float:
    """The same over graphs, all eight."""
    chance = 1 / (1 + np.exp(-logits))
    return sum(
        float(hub_score([np.array(float(each)) for each in graph]))
        * float(np.prod([p if each else 1 - p for p, each in zip(chance, graph, strict=True)]))
        for graph in product((0, 1), repeat=3)
    )


def slope(mean: Callable[[np.ndarray], float], step: float = 1e-4) -> np.ndarray:
    return np.array([(mean(LOGITS + step * e) - mean(LOGITS - step * e)) / (2 * step) for e in np.eye(3)])


def three_nodes(*logits: np.ndarray) -> Distributions:
    """Distributions of graphs of three nodes with these logits; their budget is 2.5 edges, and slopes are those above.

    :class:`Hubs` (steep 2, middle 1) is sure that a graph with two or three edges is of the second class, and that one
    without is not.
    """
    path, ring = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    listed = [Data(x=torch.ones(3, 1), edge_index=index, y=torch.tensor([i])) for i, index in enumerate((path, ring))]
    batch = from_pyg(listed, infer_schema(listed))
    scores = GNNAdapter(Hubs(), batch.schema).score(batch)
    slots = Slots.like_real([3] * len(logits), batch, scores, 1, None, Seed(0))
    made = Distributions(slots, PairFrequencies.of(batch), {}, Seed(0))
    made.restore({"edge": torch.from_numpy(np.stack(logits)).float()})
    return made


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_the_gradient_is_that_of_quadrature(temperature: float) -> None:
    """Of the relaxed objective, without the terms that no model has part in; the mean of many draws."""
    made = three_nodes(LOGITS)
    nothing = dict.fromkeys(("l1_weight", "l2_weight", "connectivity_weight", "budget_weight"), 0.0)
    settings = InterpreterSettings(draws=40_000, temperature=temperature, **nothing)  # type: ignore[arg-type]
    adapter = GNNAdapter(Hubs(2.0, 1.0), made.schema)
    objective = Learning(made, adapter, 1, torch.empty(0), settings).objective(Seed(1).torch())
    assert abs(-float(objective.detach()) - relaxed_mean(LOGITS, temperature)) < 0.05
    found = -torch.autograd.grad(objective.sum(), made.edge)[0][0].double().numpy()
    expected = slope(lambda logits: relaxed_mean(logits, temperature))
    assert np.abs(found - expected).max() < 0.03 * np.abs(expected).max()


def test_the_relaxed_gradient_nears_that_over_graphs(record_property: Callable[[str, object], None]) -> None:
    exact = slope(discrete_mean)
    apart = {
        temperature: float(
            np.abs(slope(lambda logits, t=temperature: relaxed_mean(logits, t)) - exact).max()  # type: ignore[misc]
        )
        for temperature in TEMPERATURES
    }
    record_property("distance_by_temperature", apart)  # stands in the report of the tests (--junitxml)
    distances = list(apart.values())
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.35 * distances[0]


# -- the terms ----------------------------------------------------------------------------------------


def test_connectivity_is_the_divergence_between_neighbouring_edges() -> None:
    ends = torch.triu_indices(4, 4, 1)
    logits = torch.randn(2, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    counted = torch.tensor([[True] * 6, [True, True, False, True, False, True]])
    expected = []
    for row, there in zip(logits.sigmoid().tolist(), counted.tolist(), strict=True):
        found = [
            row[e] * np.log(row[e] / row[f]) + (1 - row[e]) * np.log((1 - row[e]) / (1 - row[f]))
            for e, f in permutations(range(6), 2)
            if there[e] and there[f] and set(ends[:, e].tolist()) & set(ends[:, f].tolist())
        ]
        expected.append(sum(found) / len(found))
    assert torch.allclose(connectivity(logits, counted, ends), torch.tensor(expected, dtype=torch.float64), atol=1e-6)
    assert torch.allclose(connectivity(torch.ones(1, 6), counted[:1], ends), torch.zeros(1), atol=1e-6)


def test_norms_and_budget() -> None:
    logits, counted = torch.tensor([[2.0, -4.0, 100.0]]), torch.tensor([[True, True, False]])
    assert float(norms(logits, counted, 1.0, 0.0)) == 3
    assert float(norms(logits, counted, 0.0, 1.0)) == 10
    many = torch.full((1, 10), 20.0)
    over = beyond_budget(many, torch.ones(1, 10, dtype=torch.bool), torch.tensor([4.0]))
    assert float(over) == pytest.approx(6.0025**2, rel=1e-3)
    assert float(beyond_budget(-many, torch.ones(1, 10, dtype=torch.bool), torch.tensor([40.0]))) < 1e-9


def test_the_budget_becomes_stricter_while_graphs_are_sure() -> None:
    weight = torch.tensor([2.0, 2.0, 1.0])
    after = next_budget_weight(weight, torch.tensor([0.95, 0.5, 0.1]), 1.0)
    assert torch.allclose(after, torch.tensor([2.1, 1.98, 1.0]))


def test_the_budget_does_not_become_infinitely_strict() -> None:
    weight = torch.ones(1)
    for _ in range(2000):
        weight = next_budget_weight(weight, torch.ones(1), 1.0)
    assert float(weight) == 100


# -- when learning ends -------------------------------------------------------------------------------

SURE_WITHIN, SURE_BEYOND, NOT_SURE = np.array([3.0, 3, -3]), np.array([3.0, 3, 3]), np.array([-3.0, -3, -3])


def learning(*logits: np.ndarray, **options: Any) -> Learning:
    made = three_nodes(*logits)
    settings = InterpreterSettings(draws=2, **options)
    return Learning(made, GNNAdapter(Hubs(2.0, 1.0), made.schema), 1, torch.empty(0), settings)


def test_a_distribution_that_is_sure_and_within_its_budget_changes_no_more_and_costs_nothing() -> None:
    made = learning(SURE_WITHIN, SURE_BEYOND, NOT_SURE, iterations=4)
    made._look()
    assert made.going.tolist() == [1, 2]
    before = made.distributions.edge.detach().clone()
    made.run(Seed(0))
    changed = (made.distributions.edge.detach() != before).any(1)
    assert changed.tolist() == [False, True, True]
    looks, steps = 3 + 2, 4
    assert made.adapter.scored == looks + steps * 2 * made.settings.draws


def test_learning_ends_where_all_are_done() -> None:
    found = (made := learning(SURE_WITHIN, iterations=2000)).run(Seed(0))
    assert found["sure_within_budget"] == 1
    assert found["budget"] == [2.5]
    assert 1.5 < found["expected_edges"][0] <= 2.5
    assert made.adapter.scored == 5 * made.settings.draws + 1


def test_nothing_but_numbers_after_two_thousand_steps() -> None:
    """Of a graph that is sure, and so certain that nothing brings it within its budget."""
    made = learning(np.full(3, 200.0), iterations=2000, l1_weight=0.0, l2_weight=0.0)
    found = made.run(Seed(0))
    assert found["sure_within_budget"] == 0
    assert found["expected_edges"] == [3.0]
    assert bool(made.distributions.edge.isfinite().all())
    assert made.budget_weight.tolist() == [100.0]


def test_steps_that_are_too_long_are_told_in_a_sentence() -> None:
    with pytest.raises(
        NotNumbersError, match=r"of 'class 1' have become values that are no numbers.* lower learning_rate"
    ):
        learning(LOGITS, learning_rate=1e30).run(Seed(0))


# -- draws --------------------------------------------------------------------------------------------


def test_features_are_what_columns_hold() -> None:
    """Learned rows keep to the kinds and the ranges of real ones, and where nothing is learned to a real row."""
    kinds = [
        Column(ColumnKind.CONTINUOUS),
        Column(ColumnKind.BINARY),
        Column(ColumnKind.COUNT, levels=5),
        *(Column(ColumnKind.ONE_HOT, group=0) for _ in range(3)),
        Column(ColumnKind.CATEGORICAL, levels=3),
    ]
    spec = FeatureSpec(FeatureKind.MIXED, len(kinds), columns=tuple(kinds))
    real = torch.tensor([[-2.0, 0, 0, 1, 0, 0, 2], [3.0, 1, 3, 0, 1, 0, 1], [1.0, 0, 3, 0, 1, 0, 0]])
    relaxation = FeatureRelaxation.of(real, spec)
    logits = relaxation.start(real)
    kept = relaxation.rows(logits, real, None, None)
    assert torch.allclose(kept[2, :1], real[2, :1])
    generator = Seed(0).torch()
    many = relaxation.rows(logits[[2] * 4000], real[[2] * 4000], None, generator)
    assert set(many[:, 1].tolist()) == {0.0, 1.0}
    assert set(many[:, 2].tolist()) == {0.0, 3.0}
    assert bool((many[:, 3:6].sum(1) == 1).all())
    assert set(many[:, 6].tolist()) == {0.0}
    assert float(many[:, 1].mean()) == pytest.approx(1.5 / 4, abs=0.03)  # real shares, half a row more of each kind
    assert float(many[:, 4].mean()) == pytest.approx(2.5 / (1.5 + 2.5 + 0.5), abs=0.03)
    soft = relaxation.rows((10 * logits).requires_grad_(), real, 0.15, generator)
    assert bool(((soft[:, 0] >= -2) & (soft[:, 0] <= 3)).all())
    assert soft.requires_grad


# -- whole searches -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def interpreter(dataset: Dataset, folder: Path | None = None, **options: Any) -> GNNInterpreter:
    config = replace(SMALL, sizes=(8, 9), **options)
    model = Topics(dataset.schema)
    return GNNInterpreter(model, dataset.data, schema=dataset.schema, config=config, seed=0, folder=folder)


@pytest.fixture(scope="module")
def nodes(planted: Dataset) -> GNNInterpreter:
    return interpreter(planted).fit()


def _of_class(made: GNNInterpreter, graphs: GraphBatch, label: int) -> float:
    """Mean over graphs of the best probability of the class in each."""
    scores = made.adapter.score(graphs)
    best = torch.zeros(len(graphs)).double()
    return float(best.scatter_reduce(0, scores.graph, scores.probability[:, label], "amax").mean())


def test_node_classes_are_seen_far_more_surely_than_in_random_trees(nodes: GNNInterpreter) -> None:
    graphs = nodes._candidates
    assert graphs is not None
    trees = control_sets(graphs, nodes.real.train, Seed(0))["random_trees"]
    classes = nodes.schema.num_classes
    for label in range(classes):
        own = graphs[((graphs.label == label) & graphs.target_mask).any(1)]
        assert _of_class(nodes, own, label) > _of_class(nodes, trees, label) + 0.25


def test_graphs_are_valid_and_as_large_as_asked_for(nodes: GNNInterpreter) -> None:
    graphs = nodes._candidates
    assert graphs is not None
    assert bool(check_validity(graphs.check()).valid.all())
    wanted = nodes.real.like(nodes.config.candidates)
    classes = nodes.schema.num_classes
    assert graphs.sizes.tolist() == [size for label in range(classes) for size in wanted[label::classes]]
    assert set(graphs.tables) == {"author", "paper", "term"}
    assert set(graphs.tables["paper"].unique().tolist()) == {0.0, 1.0}


def test_a_whole_run_tells_how_it_went(nodes: GNNInterpreter) -> None:
    about = nodes.explain(measure=False).about
    assert EXPLAINERS["gnninterpreter"] is GNNInterpreter
    assert nodes.config.selection == "highest"
    for found in about["generation"]["distributions"].values():
        assert found["sizes"] == [8, 9]
        assert all(0.9 <= value <= 1 for value in found["probability"])  # of the most probable graphs; drawn ones less


def test_the_published_number_of_steps_ends_near_the_budget(planted: Dataset) -> None:
    made = interpreter(planted, iterations=2000)
    about = made.fit().explain(measure=False).about["generation"]
    assert about["scored"] < made.config.asks(made.schema.num_classes) / 20
    for found in about["distributions"].values():
        assert found["sure_within_budget"] == 2
        for expected, budget in zip(found["expected_edges"], found["budget"], strict=True):
            assert 0.7 * budget < expected <= budget


def test_a_class_that_has_been_learned_is_not_learned_again(
    planted: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: GNNInterpreter
) -> None:
    learned: list[int] = []
    run = Learning.run

    def stopping(self: Learning, seed: Seed) -> dict[str, Any]:
        if self.class_index == 2 and 2 not in learned:
            learned.append(2)
            raise KeyboardInterrupt
        learned.append(self.class_index)
        return run(self, seed)

    monkeypatch.setattr(Learning, "run", stopping)
    with pytest.raises(KeyboardInterrupt):
        interpreter(planted, folder=tmp_path).fit()
    resumed = interpreter(planted, folder=tmp_path).fit()
    assert learned == [0, 1, 2, 2, 3]
    assert resumed._candidates is not None
    assert nodes._candidates is not None
    assert torch.equal(resumed._candidates.edge, nodes._candidates.edge)
    assert resumed._findings == nodes._findings
    (tmp_path / CANDIDATES).unlink()
    (tmp_path / DISTRIBUTIONS.format(0)).write_bytes(b"nothing")
    with pytest.raises(DignnError, match=DISTRIBUTIONS.format(0)):
        interpreter(planted, folder=tmp_path).fit()


def test_same_seed_same_bits(nodes: GNNInterpreter) -> None:
    first, again, other = (nodes.search(1, [8, 9, 8, 9], Seed(seed)) for seed in (0, 0, 1))
    assert torch.equal(first.edge, again.edge)
    assert all(torch.equal(first.tables[name], again.tables[name]) for name in first.tables)
    assert not torch.equal(first.edge, other.edge)


def test_the_model_gets_no_gradients(nodes: GNNInterpreter) -> None:
    assert all(weight.grad is None for weight in nodes.adapter.model.parameters())


def test_graph_classes_are_found_where_random_trees_do_not_have_them() -> None:
    made = GNNInterpreter(Hubs(), rings_and_stars(), config=replace(SMALL, iterations=40, draws=4), seed=0).fit()
    graphs = made._candidates
    assert graphs is not None
    assert bool(check_validity(graphs).valid.all())
    trees = control_sets(graphs, made.real.train, Seed(0))["random_trees"]
    stars = graphs[graphs.graph_label == 1]
    assert _of_class(made, stars, 1) > max(0.75, _of_class(made, trees, 1) + 0.3)  # a star of five nodes scores 0.89


def test_types_that_are_features_are_learned() -> None:
    """A model that counts nitrogen: the class that has it becomes full of it, and the other one has none."""
    listed = rings_and_stars()
    for number, graph in enumerate(listed):
        kind = torch.zeros(int(graph.num_nodes or 0), dtype=torch.long)
        kind[: 1 + 2 * (number % 2)] = 1  # in any place of a ring; the hub and two leaves of a star
        graph.x = torch.eye(2)[kind]
    schema = infer_schema(listed, type_names=("C", "N"))

    class Nitrogen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.degrees = Degrees()

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            count = global_add_pool(x[:, 1:] + 0.01 * self.degrees(x[:, 1:], edge_index), batch)
            return torch.cat([2 - count, count - 2], dim=1)

    config = replace(SMALL, iterations=20, embedding_weight=0.0, l1_weight=0.0, l2_weight=0.0)
    made = GNNInterpreter(Nitrogen(), listed, schema=schema, config=config, seed=0).fit()
    graphs = made._candidates
    assert graphs is not None
    share = [float((graphs[graphs.graph_label == c].node_type == 1).double().mean()) for c in range(2)]
    assert share[1] > share[0] + 0.4
    joined = made._frequencies.joined > 0
    start, end = graphs.node_type[:, :, None], graphs.node_type[:, None, :]
    assert bool(joined[start.clamp_min(0), end.clamp_min(0)][graphs.edge > 0].all())


def test_homogeneous_nodes_with_numbers() -> None:
    """Continuous features stay within the range of real ones."""
    random = torch.Generator().manual_seed(0)
    ring = torch.arange(60)
    index = torch.cat([torch.stack([ring, (ring + step) % 60]) for step in (1, 7)], 1)
    x = torch.rand(60, 3, generator=random)
    data = Data(x=x, edge_index=torch.cat([index, index.flip(0)], 1), y=(x[:, 0] > 0.5).long())
    config = replace(SMALL, sizes=(6, 7), iterations=5)
    made = GNNInterpreter(TinyGCN(3, 2, pool=False), data, config=config, seed=0).fit()
    graphs = made._candidates
    assert graphs is not None
    assert bool(check_validity(graphs).valid.all())
    [table] = graphs.tables.values()
    assert bool(((table >= x.amin(0) - 1e-6) & (table <= x.amax(0) + 1e-6)).all())


# -- what is refused ----------------------------------------------------------------------------------


def test_a_model_without_gradients_is_refused_in_a_sentence(planted: Dataset) -> None:
    model = TinyHetero(planted.schema)

    def plain(x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> Tensor:
        with torch.no_grad():
            found = model(x_dict, edge_index_dict)
        assert isinstance(found, Tensor)
        return found

    made = GNNInterpreter(plain, planted.data, schema=planted.schema, config=replace(SMALL, sizes=(8,)))
    with pytest.raises(ModelMismatchError, match="gnninterpreter needs the gradient .* choose an explainer without"):
        made.fit()


def test_a_model_that_does_not_look_at_edges_is_explained(planted: Dataset) -> None:
    """It has no gradient there because nothing changes, and is asked about features alone."""
    weights = torch.randn(planted.schema.spec("author").width, planted.schema.num_classes, generator=Seed(0).torch())

    def of_features(x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> Tensor:
        return x_dict["author"] @ weights

    made = GNNInterpreter(of_features, planted.data, schema=planted.schema, config=replace(SMALL, sizes=(8,))).fit()
    assert made._candidates is not None
    assert len(made._candidates) == SMALL.candidates


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"iterations": 0}, "iterations is 0; it must be at least 1"),
        ({"draws": 1.5}, "draws is 1.5; it must be a whole number"),
        ({"distributions": 0}, "distributions is 0"),
        ({"temperature": 0}, "temperature is 0; it must be a number above 0"),
        ({"learning_rate": -1}, "learning_rate is -1"),
        ({"embedding_weight": -1}, "embedding_weight is -1; it must be 0 or a number above 0"),
        ({"budget": 0}, "budget is 0; it must be at least 1"),
        ({"selection": "best"}, "selection is 'best'"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DignnError, match=message):
        InterpreterSettings(**wrong)


@pytest.mark.parametrize("classes", [2, 7])
def test_a_budget_is_kept_whether_or_not_distributions_are_done_early(classes: int) -> None:
    within = GNNInterpreter.within(PRESETS["fast"], 1536, classes)
    assert isinstance(within, InterpreterSettings)
    assert within.asks(classes) + within.candidates <= 1536
    assert (within.distributions, within.draws) == (1, 8)
    assert within.iterations > 10
    assert GNNInterpreter.within(PRESETS["fast"], 10**8, classes) == PRESETS["fast"]
