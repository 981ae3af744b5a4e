"""The state in which a model is asked, and what it leaves alone."""

from __future__ import annotations

import threading

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from any_models import DATA, Base, agrees, by_parts, people
from dignn import DiGNNExplainer
from dignn.model.hooks import watched
from dignn.model.state import asked, modules_of, unwrapped


def test_modules_that_other_threads_run_are_left_alone() -> None:
    here, there = nn.Linear(2, 2), nn.Linear(2, 2)
    seen: list[nn.Module] = []
    with watched(before=lambda module, _inputs: seen.append(module)):
        other = threading.Thread(target=lambda: there(torch.zeros(1, 2)))
        other.start()
        other.join()
        here(torch.zeros(1, 2))
    assert seen == [here]
    here(torch.zeros(1, 2))
    assert seen == [here]  # nothing stays behind


def test_nothing_is_compiled_for_small_graphs() -> None:
    from torch._dynamo.utils import counters

    inner = torch.compile(Base())
    counters.clear()
    DiGNNExplainer(lambda x, edge_index: inner(x, edge_index), DATA["people"]).check()
    assert not counters["frames"]


def test_what_a_function_uses_is_found() -> None:
    model = Base()

    def closes(x: Tensor, edge_index: Tensor) -> Tensor:
        return model(x, edge_index)

    assert modules_of(closes) == [model]
    assert modules_of(model.scores) == [model]
    assert modules_of(len) == []
    assert unwrapped(torch.compile(model)) is model
    model.train()
    with asked(closes):
        assert not model.conv.training
    assert model.conv.training


def test_precision_is_found_where_a_function_calls_the_model() -> None:
    agrees(
        Base().double(),
        "people",
        lambda model, graph: model(graph.x.double(), graph.edge_index),
        forward=lambda model, graph: model(graph.x, graph.edge_index),
    )


def test_large_whole_numbers_that_a_model_ignores_are_no_matter() -> None:
    class Ignores(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.conv = GCNConv(6, 3)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x[:, :6], edge_index)

    data = people()
    data.x = torch.cat([data.x, torch.arange(90)[:, None] * 7.0], dim=1)
    DiGNNExplainer(Ignores(), data).check()


def test_a_model_is_asked_under_its_users_defaults() -> None:
    model, seen = Base(), set()

    def notes(x: Tensor, edge_index: Tensor) -> Tensor:
        seen.add(torch.get_default_dtype())
        return by_parts(model, DATA["people"].__class__(x=x, edge_index=edge_index))

    torch.set_default_dtype(torch.float64)
    try:
        made = DiGNNExplainer(notes, people())
    finally:
        torch.set_default_dtype(torch.float32)
    made.check()
    assert seen == {torch.float64}
