"""Models that a careless reading would get wrong: wrappers, hooks, state of their own, order, labels, padding."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_dense_batch

from any_models import DATA, Base, agrees, by_parts, molecules, people, whole
from dignn import DiGNNExplainer
from dignn.core.errors import ModelMismatchError


def refused(model: Any, data: Any, message: str, **options: Any) -> None:
    with pytest.raises(ModelMismatchError, match=message):
        DiGNNExplainer(model, data, **options).check()


# -- wrappers and hooks -------------------------------------------------------------------------------


class ParallelGNN(nn.Module):
    """Two branches, called like a wrapper."""

    def __init__(self) -> None:
        super().__init__()
        self.module, self.other = Base(), Base()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.module(x, edge_index) - 2 * self.other(x.flip(1), edge_index)


class Tempered(nn.Module):
    """A wrapper of somebody's own, with the name that torch.compile uses."""

    def __init__(self) -> None:
        super().__init__()
        self._orig_mod = Base()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self._orig_mod(x, edge_index) / 3


def test_only_real_wrappers_are_looked_through() -> None:
    agrees(ParallelGNN(), "people", by_parts)
    agrees(Tempered(), "people", by_parts)


def test_hooks_of_a_wrapper_count() -> None:
    inner = Base()
    parallel = nn.DataParallel(inner)
    inner.cpu()
    for wrapped in (parallel, torch.compile(inner)):
        if wrapped is parallel and parallel.device_ids:  # a device that another test pretends to have attracted it
            continue
        wrapped.register_forward_hook(lambda module, inputs, output: -output)
        agrees(wrapped, "people", lambda _, graph: -by_parts(inner, graph))


def test_hooks_see_arguments_by_place() -> None:
    model = Base()
    model.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 2, *inputs[1:]) if inputs else None)
    agrees(model, "people", by_parts)


# -- outputs ------------------------------------------------------------------------------------------


class Both(Base):
    """Returns what is called like the node type, and logits."""

    def forward(self, x: Tensor, edge_index: Tensor) -> dict[str, Tensor]:
        hidden = self.conv(x, edge_index)
        return {"node": hidden[:, :3], "logits": self.head(hidden.relu())}


def test_logits_beside_something_called_like_the_target() -> None:
    refused(Both(), DATA["people"], "of which node and logits could be the scores")


def test_an_embedding_is_settled_once() -> None:
    class Clamped(Base):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return 3 * super().forward(x, edge_index).clamp(-0.4, 0.4)

    made = agrees(Clamped(), "people", by_parts)
    batch, _ = made.real.compared()
    widths = {made.adapter.score(batch[number]).embedding.size(1) for number in range(len(batch))}
    assert len(widths) == 1


# -- what is handed over ------------------------------------------------------------------------------


class Weighted(Base):
    def scored(self, x: Tensor, edge_index: Tensor, weight: Tensor | None) -> Tensor:
        return self.head(self.conv(x, edge_index, weight).relu())


class ByName(Weighted):
    def forward(self, x: Tensor, edge_index: Tensor, **more: Tensor) -> Tensor:  # type: ignore[override]
        return self.scored(x, edge_index, more.get("edge_weight"))


class ByPlace(Weighted):
    def forward(self, x: Tensor, edge_index: Tensor, *more: Tensor) -> Tensor:  # type: ignore[override]
        return self.scored(x, edge_index, more[0] if more else None)


class NotNone(Weighted):
    def forward(self, x: Tensor, edge_index: Tensor, w: Any = 1.0) -> Tensor:  # type: ignore[override]
        return self.scored(x, edge_index, w if isinstance(w, Tensor) else None)


class Moved(Base):
    def forward(self, x: Tensor, edge_index: Tensor, coords: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return self.scores(x if coords is None else x + coords, edge_index)


@pytest.mark.parametrize(
    ("model", "field"),
    [(ByName(), "edge_weight"), (ByPlace(), "edge_weight"), (NotNone(), "edge_weight"), (Moved(), "pos")],
)
def test_any_field_that_could_be_meant_leaves_a_doubt(model: nn.Module, field: str) -> None:
    data = people()
    rng = torch.Generator().manual_seed(0)
    size = (data.num_edges,) if field == "edge_weight" else (90, 6)
    data[field] = 2 * torch.rand(size, generator=rng)
    refused(model, data, f"whether that is {field} of the data nobody can know")
    DiGNNExplainer(model, people()).check()


class ReadsLabels(Base):
    def forward(self, x: Tensor, edge_index: Tensor, y: Tensor | None = None) -> Tensor:  # type: ignore[override]
        scores = self.scores(x, edge_index)
        return scores if y is None else scores + 3 * F.one_hot(y, 3)


def test_labels_are_not_handed_over() -> None:
    agrees(ReadsLabels(), "people", by_parts)

    class FromData(ReadsLabels):
        def forward(self, data: Data) -> Tensor:  # type: ignore[override]
            return super().forward(data.x, data.edge_index, data.y)

    refused(FromData(), DATA["people"], r"goes by its labels \(y\)")


class CentresByGraph(Base):
    """A node classifier that does something else where it is told of graphs."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:  # type: ignore[override]
        scores = self.scores(x, edge_index)
        return scores if batch is None else scores - 2 * scores.mean(0)


class SlicesSeeds(Base):
    def forward(self, x: Tensor, edge_index: Tensor, batch_size: int | None = None) -> Tensor:  # type: ignore[override]
        return self.scores(x, edge_index)[:batch_size]


def test_a_node_classifier_is_called_as_its_user_calls_it() -> None:
    agrees(CentresByGraph(), "people", by_parts)
    agrees(SlicesSeeds(), "people", by_parts)


def test_features_finer_than_float32() -> None:
    class Above(nn.Module):
        """Tells numbers apart that float32 does not."""

        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.head = nn.Linear(1, 3)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return 5 * self.head((x > 16777216.5).float())

    data = people()
    data.x = 16777216 + (torch.arange(90) % 2)[:, None].double()
    refused(Above(), data, "digits of x beyond those of float32")


# -- state --------------------------------------------------------------------------------------------


class Averages(Base):
    """Keeps a moving average of what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(6))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        self.seen.mul_(0.9).add_(0.1 * x.mean(0))
        return self.scores(x - self.seen, edge_index)


@pytest.mark.parametrize("closed_over", [False, True])
def test_a_model_that_changes_itself_is_refused_and_put_back(closed_over: bool) -> None:
    model = Averages()
    given = (lambda x, edge_index: model(x, edge_index)) if closed_over else model
    refused(given, DATA["people"], "changes itself when it is asked .seen of Averages.")
    assert not model.seen.any()


class Functional(Base):
    """Normalises without a module, so that only its own mode decides."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(8))
        self.register_buffer("var", torch.ones(8))

    def predict(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hidden = self.conv(x, edge_index)
        return self.head(F.batch_norm(hidden, self.mean, self.var, training=self.training).relu())


def test_a_method_is_asked_with_its_module_in_evaluation_mode() -> None:
    model = Functional().train()
    before = copy.deepcopy(model.state_dict())
    made = DiGNNExplainer(model.predict, DATA["people"]).check()
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    batch, own = made.real.compared()
    model.eval()
    with torch.no_grad():
        expected = torch.cat([model.predict(graph.x, graph.edge_index) for graph in own]).softmax(1)
    assert torch.allclose(made.adapter.score(batch).probability.float(), expected, atol=1e-4)


def test_a_model_may_write_into_what_it_is_given() -> None:
    class Writes(Base):
        def forward(self, data: Data) -> Tensor:  # type: ignore[override]
            data.x = data.x - 0.5
            data.x.mul_(2)
            return self.scores(data.x, data.edge_index)

    data = people()
    before = data.x.clone()
    agrees(Writes(), "people", lambda model, graph: whole(model, graph.clone()), given=data)
    assert torch.equal(data.x, before)


def test_dropout_that_is_always_on_is_called_so() -> None:
    class Random(Base):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.scores(F.dropout(x, 0.5), edge_index)

    refused(Random(), DATA["people"], "answers differently each time")


# -- order and size -----------------------------------------------------------------------------------


def test_a_model_that_goes_by_the_order_of_nodes_is_refused() -> None:
    class Numbered(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.table, self.conv, self.head = nn.Embedding(1500, 6), GCNConv(6, 8), nn.Linear(8, 3)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return 4 * self.head(self.conv(self.table(torch.arange(len(x))), edge_index))

    refused(Numbered(), DATA["people"], "goes by the order of nodes")


def test_a_model_that_goes_by_the_order_of_edges_is_called_so() -> None:
    class EverySecond(Weighted):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            weight = torch.ones(edge_index.size(1))
            weight[::2] = 0.2
            return 4 * self.scored(x, edge_index, weight)

    data = people()
    data.edge_index = data.edge_index[:, torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(1))]
    refused(EverySecond(), data, "goes by the order of its edges")


def test_what_is_no_trained_model() -> None:
    refused(Base, DATA["people"], "is the class Base; give a trained instance")
    refused(Base().to("meta"), DATA["people"], "weights are on the meta device")


def test_padding_of_graphs_of_several_sizes_is_seen(caplog: pytest.LogCaptureFixture) -> None:
    class Padded(Base):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:  # type: ignore[override]
            dense, _ = to_dense_batch(self.conv(x, edge_index).relu(), batch)
            return 4 * self.head(dense.mean(1))

    ordered = sorted(molecules(), key=lambda graph: int(graph.num_nodes or 0))
    made = agrees(
        Padded(3, 2), "molecules", lambda model, graph: model(graph.x, graph.edge_index, graph.batch), given=ordered
    )
    assert made.adapter.one_by_one
