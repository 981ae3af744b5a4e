"""The generator that grows graphs node by node."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from dignn.core import threads
from dignn.core.errors import DignnError, RunFolderError
from dignn.core.progress import silent
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.graphs.adjacency import Adjacency
from dignn.graphs.batch import GraphBatch
from dignn.graphs.isomorphism import fingerprints
from dignn.graphs.schema import Relation
from dignn.graphs.validity import check_validity
from dignn.sampling.forest_fire import forest_fire
from dignn.structure.bootstrap import BootstrapStructure
from dignn.structure.node_growth.generator import NodeGrowth
from dignn.structure.node_growth.growth_decisions import DecisionPoint, decisions_of, targets_of
from dignn.structure.node_growth.growth_events import RelativeFeatures, events_of
from dignn.structure.node_growth.growth_network import GrowthNetwork
from dignn.structure.node_growth.growth_orders import Actions, grow
from dignn.structure.node_growth.growth_plan import Plan
from dignn.structure.node_growth.growth_roles import DETAILS, Detail
from dignn.structure.node_growth.growth_sampling import Grower
from dignn.structure.node_growth.growth_words import GrowthWords
from dignn.structure.settings import NodeGrowthConfig
from dignn.structure.vocabulary import Vocabulary
from dignn.zoo.datasets.registry import load
from strategies import batch_of, plain_schema

QUICK = NodeGrowthConfig(width=16, layers=2, events_per_batch=240, training=TrainingConfig(steps=40, validate_every=20))
PLAIN = plain_schema(classes=("one", "two"))
RELATIVE = RelativeFeatures.__dataclass_fields__


@pytest.fixture(scope="module")
def planted() -> GraphBatch:
    dataset = load("planted")
    return forest_fire(Adjacency.build(dataset.data, dataset.schema), (8, 10), 30, seed=Seed(0))


def path(size: int, schema=PLAIN, graph_label: int = -1) -> GraphBatch:
    return batch_of(schema, [0] * size, {(i, i + 1): 1 for i in range(size - 1)}, graph_label=graph_label)


class Table:
    """The exact answer in every situation that occurs in many growths: the mean of what happens next there."""

    def __init__(self, graphs: GraphBatch, words: Vocabulary, actions: Actions) -> None:
        self.actions = actions
        self.mean: dict[str, Tensor] = {}
        events = events_of(
            grow(*words.encode(graphs), graphs.graph_label, Seed(0).child("table").torch()), words, actions
        )
        target = targets_of(events, actions)
        for graph in range(len(graphs)):
            rows: dict[int, list[int]] = {}
            for step in range(int(events.length[graph]) - 1):
                newest = int(events.node[graph, step])
                relative = events.relative
                rows[newest] = relative.kind[graph, step, : newest + 1].tolist()
                closed = relative.closed[graph, step, : newest + 1].tolist()
                tokens = events.tokens[graph, : newest + 1].tolist()
                key = self.key(
                    [rows[node] for node in range(newest + 1)], closed, tokens, int(events.extra[graph, step])
                )
                answer = torch.zeros(newest + 1, actions.count)
                here = (target.graph == graph) & (target.step == step)
                node = target.item[here].clamp_max(newest)
                answer.index_put_((node, target.action[here]), target.weight[here], accumulate=True)
                self.mean[key] = self.mean.get(key, torch.zeros(())) + answer

    @staticmethod
    def key(rows: list[list[int]], closed: list[int], tokens: list[int], extra: int) -> str:
        return f"{rows} {[int(value) for value in closed]} {tokens} {extra}"

    def blank(self, count: int, size: int) -> list[Tensor]:
        return [torch.zeros(count, size, size, dtype=torch.long)]

    def step(self, code: Tensor, decision: DecisionPoint, label: Tensor, *state: Any) -> Tensor:
        memory, place, options = state
        memory[0][:, place, : place + 1] = decision.relative.kind[:, 0].long()
        answers = []
        for number in range(len(code)):
            rows = [memory[0][number, node, : node + 1].tolist() for node in range(place + 1)]
            closed, tokens = (part[number, 0].tolist() for part in (decision.relative.closed, decision.tokens))
            key = self.key(rows, closed, tokens, int(decision.extra[number, 0]))
            answers.append(self.mean.get(key, torch.ones(place + 1, self.actions.count)).log())  # ones: at the end
        return torch.stack(answers)[options.graph, options.item]


@pytest.mark.parametrize("detail", [DETAILS[0], DETAILS[-1]])
def test_an_exact_model_generates_exactly_the_distribution_it_learned_from(detail: Detail) -> None:
    # Three graphs with four nodes and four edges, in the proportions 5 : 2 : 1, and one with three edges.
    square = batch_of(PLAIN, [0] * 4, {(0, 1): 1, (1, 2): 1, (2, 3): 1, (3, 0): 1})
    paw = batch_of(PLAIN, [0] * 4, {(0, 1): 1, (1, 2): 1, (0, 2): 1, (2, 3): 1})
    share = {"square": 5 / 9, "paw": 2 / 9, "path": 2 / 9}
    kinds = {"square": square, "paw": paw, "path": path(4)}
    graphs = GraphBatch.cat([square] * 250 + [paw] * 100 + [path(4)] * 100)
    plain = Vocabulary.of(graphs)
    words = GrowthWords.told(plain, *plain.encode(graphs), detail)
    actions = Actions.of(words)
    plan = Plan.of(*words.encode(graphs), graphs.graph_label, words.node_count)
    grower = Grower(Table(graphs, words, actions), words, actions, plan, temperature=1.0, looks=3)
    made, report = grower.sample([4] * 900, Seed(5), silent)
    assert report["unlike_plan_at_first"] == 0
    found = fingerprints(made)
    counts = [found.count(fingerprints(kinds[name])[0]) for name in share]
    assert sum(counts) == 900
    assert report["short_of_edges"] == 0
    assert chisquare(counts, [900 * value for value in share.values()]).pvalue > 1e-3


def test_what_is_grown_is_connected_consistent_and_of_the_planned_composition(planted: GraphBatch) -> None:
    generator = NodeGrowth(QUICK).fit(planted, seed=Seed(0))
    made = generator.sample([8, 10] * 60, seed=Seed(1)).check()
    assert bool(check_validity(made).valid.all())
    words = Vocabulary.of(planted)

    def compositions(graphs: GraphBatch) -> set[tuple[int, ...]]:
        nodes, edges = words.encode(graphs)
        tokens = torch.stack([(nodes == token).sum(1) for token in range(words.node_count)], 1)
        return set(map(tuple, torch.cat([tokens, (edges > 0).sum((1, 2))[:, None]], 1).tolist()))

    known, new = compositions(planted), compositions(made)
    assert generator.report["sampling"]["graphs"] == 120
    assert len(new - known) <= generator.report["sampling"]["short_of_edges"]
    # The directed relation keeps its orientation: no citation goes both ways.
    cites = 1 + [r.name for r in planted.schema.relations].index("cites")
    one_way = made.edge == cites
    assert bool(one_way.any())
    assert not bool((one_way & one_way.transpose(1, 2)).any())


def test_training_lowers_the_loss_and_keeps_the_best_weights_and_the_curves(planted: GraphBatch) -> None:
    training = TrainingConfig(steps=60, learning_rate=1e-2, validate_every=10)
    config = NodeGrowthConfig(width=16, layers=2, events_per_batch=480, training=training)
    report = NodeGrowth(config).fit(planted, seed=Seed(0)).report["training"]["all sizes"]
    curve = report["curves"]["validation"]
    assert [step for step, _ in curve] == [10, 20, 30, 40, 50, 60]
    assert report["best_step"] in [step for step, loss in curve if loss == min(loss for _, loss in curve)]
    learned = report["curves"]["train"]
    assert len(learned) == 60
    assert learned[-1][1] < 0.7 * learned[0][1]


def test_types_in_a_chain_never_lead_into_a_dead_end() -> None:
    # Fields hang on papers, papers on authors, authors on institutes: what is to come may fit complete nodes only.
    names = ("institute", "author", "field", "paper")
    schema = plain_schema(
        (Relation(names[0], "x", names[1]), Relation(names[1], "y", names[3]), Relation(names[3], "z", names[2])),
        node_types=names,
    )
    tree = {(0, 1): 1, (0, 2): 1, (1, 3): 2, (2, 4): 2, (3, 5): 3, (3, 6): 3, (4, 7): 3}
    graphs = batch_of(schema, [0, 1, 1, 3, 3, 2, 2, 2], tree)
    untrained = NodeGrowthConfig(width=16, layers=1, training=TrainingConfig(steps=1))
    generator = NodeGrowth(untrained).fit(graphs, seed=Seed(0))
    made = generator.sample([8] * 600, seed=Seed(1)).check()
    assert made.sizes.tolist() == [8] * 600
    assert bool(check_validity(made).valid.all())
    assert torch.equal(made.node_type.sort(1).values, graphs.node_type.sort(1).values.expand(600, -1))
    assert generator.report["sampling"]["reopened"] > 0


def test_plans_are_spread_evenly_over_the_training_graphs() -> None:
    graphs = GraphBatch.cat([path(3), *[batch_of(PLAIN, [0] * 3, {(0, 1): 1, (1, 2): 1, (0, 2): 1})] * 3, path(2)])
    words = Vocabulary.of(graphs)
    plan = Plan.of(*words.encode(graphs), graphs.graph_label, words.node_count)
    drawn = plan.draw([3] * 40 + [2], Seed(0).torch())
    assert int((drawn.extra[:40] == 1).sum()) == 30
    assert drawn.tokens.sum(1).tolist() == [3] * 40 + [2]


def test_the_class_of_a_graph_is_drawn_and_decides_its_structure() -> None:
    star = {(0, 1): 1, (0, 2): 1, (0, 3): 1, (0, 4): 1}
    graphs = GraphBatch.cat([path(5, graph_label=0), batch_of(PLAIN, [0] * 5, star, graph_label=1)] * 60)
    config = NodeGrowthConfig(
        width=32, layers=2, events_per_batch=240, training=TrainingConfig(steps=120, learning_rate=6e-3)
    )
    made = NodeGrowth(config).fit(graphs, seed=Seed(0)).sample([5] * 100, seed=Seed(1))
    assert int((made.graph_label == 1).sum()) == 50
    degree = made.undirected.sum(2).max(1).values
    assert float((degree[made.graph_label == 1] == 4).float().mean()) > 0.9
    assert float((degree[made.graph_label == 0] == 2).float().mean()) > 0.9


def test_generating_step_by_step_scores_like_a_whole_growth(planted: GraphBatch) -> None:
    words = Vocabulary.of(planted)
    actions = Actions.of(words)
    torch.manual_seed(0)
    network = GrowthNetwork(words, actions, classes=0, width=16, layers=2, heads=2).eval()
    graphs = planted[planted.sizes == 8][:6]
    grown = grow(*words.encode(graphs), graphs.graph_label, Seed(0).torch())
    events = events_of(grown, words, actions)
    decision = decisions_of(events)
    options = decision.options(actions)
    with torch.no_grad():
        whole = network(events.code, decision, events.label, options, events.last)
        for graph in range(len(graphs)):
            memory = network.blank(1, 8)
            for step in range(int(events.length[graph])):
                newest = int(events.node[graph, step])
                index = torch.tensor([graph])
                relative = events[index].relative
                one = {name: getattr(relative, name)[:, step : step + 1, : newest + 1] for name in RELATIVE}
                now = DecisionPoint(
                    tokens=events.tokens[index, None, : newest + 1],
                    visible=torch.ones(1, 1, newest + 1, dtype=torch.bool),
                    relative=RelativeFeatures(**one),
                    remaining=events.remaining[index, step : step + 1],
                    extra=events.extra[index, step : step + 1],
                )
                own = now.options(actions)
                scores = network.step(events.code[index, step], now, events.label[index], memory, newest, own)
                here = (options.graph == graph) & (options.asking == step)
                assert torch.equal(own.item, options.item[here].clamp_max(newest))
                assert torch.equal(own.allowed, options.allowed[here])
                torch.testing.assert_close(scores, whole[here], rtol=1e-4, atol=1e-4)


def test_the_loss_is_the_cross_entropy_of_one_softmax_over_all_that_is_admissible(planted: GraphBatch) -> None:
    generator = NodeGrowth(QUICK)
    generator._words = words = GrowthWords.fitting(planted, torch.arange(len(planted)), torch.arange(0))
    generator._build(planted.schema, Seed(0))
    actions, network = generator._actions, generator._network
    events = next(generator._batches(*words.encode(planted), planted.graph_label, Seed(0)))
    decision, target = decisions_of(events), targets_of(events, actions)
    options = decision.options(actions)
    with torch.no_grad():
        every = options.dense(network(events.code, decision, events.label, options, events.last))
        place = target.graph, target.step, target.item, target.action
        expected = -(target.weight * every.flatten(2).log_softmax(2).view_as(every)[place]).sum()
        loss = generator._loss(events)
    torch.testing.assert_close(loss, expected / (events.length - 1).sum())


def test_the_number_of_cores_does_not_change_a_bit(planted: GraphBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = NodeGrowth(QUICK).fit(planted, seed=Seed(0))
    made = []
    for cores in (1, 3):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        made.append(generator.sample([8] * 500 + [10] * 500, seed=Seed(1)))
    assert torch.equal(made[0].edge, made[1].edge)
    assert torch.equal(made[0].label, made[1].label)


class LikesBranches:
    """A guide that likes graphs with a node of high degree."""

    def __init__(self, count: int, size: int) -> None:
        self.group = torch.arange(count) // size

    def log_weight(self, graphs: GraphBatch, index: Tensor) -> Tensor:
        assert len(index) == len(graphs)
        return 3.0 * graphs.undirected.sum(2).max(1).values.float()


def test_a_guide_draws_graphs_towards_what_it_likes(planted: GraphBatch) -> None:
    generator = NodeGrowth(QUICK).fit(planted, seed=Seed(0))
    free = generator.sample([10] * 96, seed=Seed(1))
    guided = generator.sample([10] * 96, seed=Seed(1), guide=LikesBranches(96, 32)).check()
    assert bool(check_validity(guided).valid.all())
    highest = [float(made.undirected.sum(2).max(1).values.float().mean()) for made in (free, guided)]
    assert highest[1] > highest[0] + 0.5


def test_a_file_gives_the_same_generator_back(planted: GraphBatch, tmp_path) -> None:
    generator = NodeGrowth(QUICK).fit(planted, seed=Seed(0))
    generator.save(tmp_path / "structure.safetensors")
    again = NodeGrowth(QUICK).load(tmp_path / "structure.safetensors", planted.schema)
    one, same = (made.sample([8, 10], seed=Seed(2)) for made in (generator, again))
    assert torch.equal(one.edge, same.edge)
    assert again.report["training"] == generator.report["training"]


def test_a_file_of_another_generator_schema_width_or_with_damage_is_refused(planted: GraphBatch, tmp_path) -> None:
    path = tmp_path / "structure.safetensors"
    generator = NodeGrowth(QUICK).fit(planted, seed=Seed(0))
    generator.save(path)
    with pytest.raises(RunFolderError, match="was written by 'node-growth', not 'bootstrap'"):
        BootstrapStructure().load(path, planted.schema)
    with pytest.raises(RunFolderError, match="does not fit these settings .it is of another schema.; delete it"):
        NodeGrowth(QUICK).load(path, PLAIN)
    with pytest.raises(RunFolderError, match="does not fit these settings .* delete it and run again") as caught:
        NodeGrowth(NodeGrowthConfig(width=32)).load(path, planted.schema)
    assert "\n" not in str(caught.value)
    with torch.no_grad():
        generator._network.norm.weight.fill_(torch.nan)
    generator.save(path)
    with pytest.raises(RunFolderError, match="values that are no numbers"):
        NodeGrowth(QUICK).load(path, planted.schema)


def test_a_garbled_file_that_can_still_be_read_is_named(planted: GraphBatch, tmp_path) -> None:
    """As in a run folder of an earlier version, which has no checksums."""
    path, generator = tmp_path / "structure.safetensors", NodeGrowth(QUICK).fit(planted, seed=Seed(0))
    with torch.no_grad():
        for weight in generator._network.parameters():
            weight.fill_(1e38)
    with pytest.raises(DignnError, match="NaN"):  # here no file is to blame
        generator.sample([8], seed=Seed(1))
    generator.save(path)
    garbled = NodeGrowth(QUICK).load(path, planted.schema)
    with pytest.raises(
        RunFolderError, match=r"structure\.safetensors is damaged: .*; delete it and run again$"
    ) as told:
        garbled.sample([8], seed=Seed(1))
    assert "NaN" not in str(told.value)


def test_the_threads_of_the_caller_change_nothing_and_come_back(planted: GraphBatch) -> None:
    before = torch.get_num_threads()
    made = []
    try:
        for threads_of_caller in (1, 2):
            torch.set_num_threads(threads_of_caller)
            generator = NodeGrowth(QUICK).fit(planted, seed=Seed(0))
            made.append(generator.sample([10] * 20, seed=Seed(1)).edge)
            assert torch.get_num_threads() == threads_of_caller
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*made)


def test_one_training_graph_is_enough() -> None:
    made = NodeGrowth(QUICK).fit(path(6), seed=Seed(0)).sample([6, 6], seed=Seed(1)).check()
    assert bool(check_validity(made).valid.all())
    assert (made.undirected.sum((1, 2)) // 2).tolist() == [5, 5]


def test_single_nodes_have_nothing_to_decide() -> None:
    lonely = GraphBatch.cat([path(1)] * 3)
    made = NodeGrowth(QUICK).fit(lonely, seed=Seed(0)).sample([1, 1], seed=Seed(1)).check()
    assert made.sizes.tolist() == [1, 1]


def test_graphs_without_edges_cannot_be_grown() -> None:
    apart = batch_of(PLAIN, [0, 0, 0], {})
    with pytest.raises(DignnError, match="No training graph is connected, and node growth needs that"):
        NodeGrowth(QUICK).fit(apart, seed=Seed(0))


def test_disconnected_graphs_are_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    graphs = GraphBatch.cat([path(4), batch_of(PLAIN, [0] * 5, {(0, 1): 1})])
    with caplog.at_level(logging.WARNING):
        generator = NodeGrowth(QUICK).fit(graphs, seed=Seed(0))
    assert "1 of 2 training graphs are not connected and left out" in caplog.text
    with pytest.raises(DignnError, match=r"No training graph has 5 nodes; their sizes are \[4\]"):
        generator.sample([5], seed=Seed(0))


class Guesses:
    """A network that knows nothing: all that is admissible is equally likely."""

    def __init__(self, actions: Actions) -> None:
        self.count = actions.count

    def blank(self, count: int, size: int) -> list[Tensor]:
        return [torch.zeros(count, size, 1)]

    def step(self, *state: Any) -> Tensor:
        return torch.zeros(len(state[-1].graph), self.count)


def test_a_graph_that_is_not_as_planned_is_grown_again() -> None:
    square = batch_of(PLAIN, [0] * 5, {(0, 1): 1, (1, 2): 1, (2, 3): 1, (3, 0): 1, (3, 4): 1})
    plain = Vocabulary.of(square)
    words = GrowthWords.told(plain, *plain.encode(square), DETAILS[0])
    actions, plan = Actions.of(words), Plan.of(*words.encode(square), square.graph_label, words.node_count)
    found = {}
    for looks in (0, 1, 12):
        grower = Grower(Guesses(actions), words, actions, plan, temperature=1.0, looks=looks)  # type: ignore[arg-type]
        ticks: list[tuple[int, int]] = []
        made, report = grower.sample([5] * 400, Seed(1), lambda done, total, ticks=ticks: ticks.append((done, total)))
        alike = [name == fingerprints(square)[0] for name in fingerprints(made)]
        found[looks] = sum(alike)
        assert ticks[-1] == (400, 400)
        assert bool(check_validity(made.check()).valid.all())
        assert report["unlike_plan"] <= report["unlike_plan_at_first"]
        assert sum(alike) >= 400 - report["unlike_plan"]  # the plan of this graph leaves no other
    assert found[0] < found[1] < found[12]
    assert found[12] > 2 * found[0]  # it goes on only while a look mends one in twenty


def test_copies_of_few_training_graphs_are_grown_again() -> None:
    # Two of the three trees with five nodes; the third, a branch, can be made of their parts.
    star = batch_of(PLAIN, [0] * 5, {(0, i): 1 for i in range(1, 5)})
    graphs = GraphBatch.cat([path(5), star] * 15)
    shares = {}
    for new in (True, False):
        generator = NodeGrowth(replace(QUICK, new=new)).fit(graphs, seed=Seed(0))
        names = fingerprints(generator.sample([5] * 200, seed=Seed(1)))
        report = generator.report["sampling"]
        shares[new] = sum(name in fingerprints(graphs) for name in names)
        if new:
            assert report["copies"] == shares[new] < report["copies_at_first"]
        else:
            assert report["copies"] == report["copies_at_first"] == 0  # nobody looks
    assert shares[True] < shares[False]


def test_a_node_takes_no_more_edges_than_its_like_have(planted: GraphBatch) -> None:
    words, generator = Vocabulary.of(planted), NodeGrowth(QUICK).fit(planted, seed=Seed(0))
    made = generator.sample([10] * 100, seed=Seed(1))
    nodes, degree = words.encode(planted)[0], planted.undirected.sum(2)
    most = torch.tensor([int(degree[nodes == token].max()) for token in range(words.node_count)])
    allowed = most[words.encode(made)[0]]
    above = (made.undirected.sum(2) > allowed).any(1)
    assert int(above.sum()) <= generator.report["sampling"]["reopened"] < 20


def test_an_edge_that_finds_no_place_is_counted() -> None:
    # The plan asks for a complete graph, but citations of two types can only cross: a square has no further place.
    schema = plain_schema((Relation("a", "x", "b"),), node_types=("a", "b"))
    square = batch_of(schema, [0, 0, 1, 1], {(0, 2): 1, (0, 3): 1, (1, 2): 1, (1, 3): 1})
    generator = NodeGrowth(QUICK).fit(square, seed=Seed(0))
    generator._plan.extra.fill_(2)
    made = generator.sample([4] * 3, seed=Seed(0)).check()
    assert generator.report["sampling"]["short_of_edges"] == 3
    assert (made.undirected.sum((1, 2)) // 2).max() <= 4


def test_a_loss_that_is_no_number_is_refused(planted: GraphBatch) -> None:
    wild = NodeGrowthConfig(width=16, training=TrainingConfig(steps=50, learning_rate=1e30, warm_up=0.0))
    with pytest.raises(DignnError, match="The loss became (nan|inf) at step .*; choose a learning rate below 1e"):
        NodeGrowth(wild).fit(planted, seed=Seed(0))
