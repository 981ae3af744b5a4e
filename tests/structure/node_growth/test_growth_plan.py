"""Plans of graphs, known and new."""

from __future__ import annotations

import torch

from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.graphs.batch import GraphBatch
from dignn.graphs.schema import Relation
from dignn.graphs.validity import check_validity
from dignn.structure.node_growth import growth_plan
from dignn.structure.node_growth.generator import NodeGrowth
from dignn.structure.node_growth.growth_plan import Plan
from dignn.structure.settings import NodeGrowthConfig
from strategies import batch_of, plain_schema

COLOURS = plain_schema((Relation("a", "x", "b"), Relation("b", "y", "c")), node_types=("a", "b", "c"))


def plan_of(rows: list[list[int]], extra: int = 0) -> Plan:
    tokens = torch.tensor(rows)
    none = torch.full((len(tokens),), -1)
    return Plan(tokens, torch.full_like(none, extra), none, torch.zeros(()))


def test_as_many_plans_are_new_as_are_alone_among_few_graphs() -> None:
    plan = plan_of([[2, 2], [2, 2], [3, 1], [1, 3]])
    assert float(plan.unseen) == 0
    assert float(plan.with_new().unseen) == 0.5
    many = plan_of([[2, 2], [2, 2], [3, 1], [1, 3]] * 1 + [[2, 2]] * growth_plan.FEW)
    assert float(many.with_new().unseen) == 0


def test_a_new_plan_is_one_step_towards_another_graph_and_keeps_what_there_is() -> None:
    plan = plan_of([[8, 2, 0], [2, 8, 0], [5, 4, 1]])
    drawn = plan.draw([10] * 300, Seed(0).torch())
    assert {tuple(row) for row in drawn.tokens.tolist()} == {(8, 2, 0), (2, 8, 0), (5, 4, 1)}
    new = plan.with_new()
    drawn = new.draw([10] * 300, Seed(0).torch())
    rows = {tuple(row) for row in drawn.tokens.tolist()}
    # Every plan is alone, so every one is new: a node of a token that there are several of becomes one of another that
    # there is, as in one of the others. None has the third token unless its graph does.
    assert rows == {(7, 3, 0), (3, 7, 0), (6, 3, 1), (4, 5, 1)}
    assert torch.equal(drawn.tokens, new.draw([10] * 300, Seed(0).torch()).tokens)


def test_a_plan_stays_where_no_step_leads_to_a_new_one() -> None:
    plan = plan_of([[2, 2], [3, 1]]).with_new()
    assert float(plan.unseen) == 1
    assert {tuple(row) for row in plan.draw([4] * 50, Seed(0).torch()).tokens.tolist()} == {(2, 2), (3, 1)}


def test_graphs_of_new_plans_are_whole_and_consistent() -> None:
    def tree(a: int, b: int, c: int) -> GraphBatch:
        types = [1] * b + [0] * a + [2] * c
        edges = {(b + number, number % b): 1 for number in range(a)}
        edges |= {(number % b, b + a + number): 2 for number in range(c)}
        edges |= {(number, b + a): 2 for number in range(1, b)}
        return batch_of(COLOURS, types, edges)

    graphs = GraphBatch.cat([tree(*counts) for counts in ((6, 2, 2), (2, 2, 6), (4, 2, 4), (3, 4, 3))])
    config = NodeGrowthConfig(width=16, layers=1, training=TrainingConfig(steps=10))
    generator = NodeGrowth(config).fit(graphs, seed=Seed(0))
    made = generator.sample([10] * 200, seed=Seed(1)).check()
    assert made.sizes.tolist() == [10] * 200
    assert bool(check_validity(made).valid.all())
    counts = {tuple((made.node_type == kind).sum(1)[number].item() for kind in range(3)) for number in range(200)}
    assert len(counts - {(6, 2, 2), (2, 2, 6), (4, 2, 4), (3, 4, 3)}) > 2
