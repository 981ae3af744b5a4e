"""The paper's denoiser: formulas, equivariance, gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.structure.edge_diffusion import graph_transformer
from dignn.structure.edge_diffusion.graph_transformer import GraphTransformer, Layer, PairAttention

UNDIRECTED = torch.tensor([0, 1, 2])
DIRECTED = torch.tensor([0, 2, 1, 3])  # 1 and 2: one relation, forth and back
NODE_TOKENS, CONDITION = 4, 3
mirrors = pytest.mark.parametrize("mirror", [UNDIRECTED, DIRECTED], ids=["undirected", "directed"])


def network(mirror: Tensor, **options: int) -> GraphTransformer:
    torch.manual_seed(0)
    small = {"layers": 2, "dx": 16, "de": 8, "dy": 6, "heads": 4, "ffx": 12, "ffe": 10, "ffy": 9} | options
    return GraphTransformer(NODE_TOKENS, len(mirror), mirror, CONDITION, **small)


def graphs(mirror: Tensor, count: int = 5, size: int = 7, seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = Seed(seed).torch()
    drawn = torch.randint(len(mirror), (count, size, size), generator=generator)
    drawn = (drawn * (torch.rand(drawn.shape, generator=generator) < 0.5)).triu(1)
    edges = drawn + mirror[drawn].transpose(1, 2)
    return (
        torch.randint(NODE_TOKENS, (count, size), generator=generator),
        edges,
        torch.rand(count, generator=generator),
        torch.randn(count, CONDITION, generator=generator),
    )


def as_matrix(pairs: Tensor, size: int, mirror: Tensor) -> Tensor:
    """Logits (B, P, E) of pairs i < j as (B, N, N, E), where (j, i) has the mirrored token."""
    matrix = pairs.new_zeros(len(pairs), size, size, pairs.size(2))
    first, second = torch.triu_indices(size, size, 1)
    matrix[:, first, second] = pairs
    matrix[:, second, first] = pairs[:, :, mirror]
    return matrix


# -- symmetry -----------------------------------------------------------------------------------------


@mirrors
def test_reordering_nodes_reorders_the_prediction(mirror: Tensor) -> None:
    size = 7
    nodes, edges, signal, condition = graphs(mirror, count=20, size=size)
    model = network(mirror)
    node_logits, pair_logits = model(nodes, edges, signal, condition)
    order = torch.randperm(size, generator=Seed(1).torch())
    assert not torch.equal(order, torch.arange(size))
    moved_nodes, moved_pairs = model(nodes[:, order], edges[:, order][:, :, order], signal, condition)
    torch.testing.assert_close(moved_nodes, node_logits[:, order], atol=1e-4, rtol=1e-4)
    before = as_matrix(pair_logits, size, mirror)[:, order][:, :, order]
    torch.testing.assert_close(as_matrix(moved_pairs, size, mirror), before, atol=1e-4, rtol=1e-4)


@mirrors
def test_graphs_of_a_batch_do_not_see_each_other(mirror: Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, model = graphs(mirror), network(mirror)
    together = model(*inputs)
    alone = [model(*(value[i : i + 1] for value in inputs)) for i in range(5)]
    monkeypatch.setattr(graph_transformer, "CACHED_PAIRS", 100)  # two graphs at once
    chunked = model(*inputs)
    for part in range(2):
        expected = torch.cat([one[part] for one in alone])
        torch.testing.assert_close(together[part], expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(chunked[part], expected, atol=1e-5, rtol=1e-5)


@mirrors
@pytest.mark.parametrize("size", [1, 2, 9])
def test_shapes(mirror: Tensor, size: int) -> None:
    node_logits, pair_logits = network(mirror)(*graphs(mirror, count=3, size=size))
    assert node_logits.shape == (3, size, NODE_TOKENS)
    assert pair_logits.shape == (3, size * (size - 1) // 2, len(mirror))
    assert bool(node_logits.isfinite().all())
    assert bool(pair_logits.isfinite().all())


def test_pairs_come_in_the_order_of_triu_indices() -> None:
    """An untrained network leans to the tokens it reads, when what it adds is taken away."""
    model = network(DIRECTED)
    for write in (model.write_nodes, model.write_pairs):
        for parameter in write.parameters():
            torch.nn.init.zeros_(parameter)
    nodes, edges, signal, condition = graphs(DIRECTED)
    node_logits, pair_logits = model(nodes, edges, signal, condition)
    assert torch.equal(node_logits.argmax(-1), nodes)
    first, second = torch.triu_indices(7, 7, 1)
    assert torch.equal(pair_logits.argmax(-1), edges[:, first, second])


# -- what it sees -------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", range(4))
def test_every_input_matters(changed: int) -> None:
    inputs = list(graphs(UNDIRECTED))
    model = network(UNDIRECTED)
    before = model(*inputs)
    inputs[changed] = graphs(UNDIRECTED, seed=1)[changed]
    for one, other in zip(before, model(*inputs), strict=True):
        assert float((one - other).detach().abs().amax((1, 2)).min()) > 1e-6


def test_without_condition() -> None:
    model = GraphTransformer(NODE_TOKENS, 3, UNDIRECTED, 0, layers=1, dx=8, de=4, dy=4, heads=2)
    nodes, edges, signal, _ = graphs(UNDIRECTED)
    assert model(nodes, edges, signal, torch.zeros(5, 0))[0].shape == (5, 7, NODE_TOKENS)


# -- formulas -----------------------------------------------------------------------------------------


def written_out(layer: Layer, x: Tensor, e: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The layer as DiGress describes it, without any merging of steps."""
    score = layer.query(x)[:, :, None, :] * layer.key(x)[:, None, :, :] * layer.scale
    score = score * (layer.pair_scale(e) + 1) + layer.pair_shift(e)
    scale, shift = layer.graph_to_pairs(y)[:, None, None].chunk(2, -1)
    new_e = layer.pair_out(score * (scale + 1) + shift)
    weighted = torch.einsum("bijc,bjc->bic", torch.softmax(score, 2), layer.value(x))
    scale, shift = layer.graph_to_nodes(y)[:, None].chunk(2, -1)
    new_x = layer.node_out(weighted * (scale + 1) + shift)

    def onward(part: Any, value: Tensor) -> Tensor:
        return part.norm(value + part.contract(torch.relu(part.expand(value))))

    new_y = y
    if layer.graph is not None:
        update, pairs = layer.graph, e.flatten(1, 2)
        pooled = update.own(y)
        for linear, values in ((update.nodes, x), (update.pairs, pairs)):
            parts = [values.mean(1), values.amin(1), values.amax(1), values.var(1, correction=0)]
            pooled = pooled + linear(torch.cat(parts, 1))
        new_y = onward(update.inner, update.norm(y + update.out(pooled)))
    x = onward(layer.node_forward, layer.node_norm(x + new_x))
    return x, onward(layer.pair_forward, layer.pair_norm(e + new_e)), new_y


@pytest.mark.parametrize("last", [False, True])
def test_a_layer_is_what_the_formulas_say_and_so_is_its_gradient(last: bool) -> None:
    torch.manual_seed(1)
    layer = Layer(16, 8, 6, 4, 12, 10, 9, last=last).double()
    inputs = [
        torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((3, 5, 16), (3, 5, 5, 8), (3, 6))
    ]
    weights = [torch.randn(value.shape, dtype=torch.float64) for value in inputs]
    found, expected = layer(*inputs), written_out(layer, *inputs)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    leaves = [*inputs, *layer.parameters()]
    gradients = [
        torch.autograd.grad(sum((value * weight).sum() for value, weight in zip(out, weights, strict=True)), leaves)
        for out in (found, expected)
    ]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_the_written_gradient_is_the_numerical_one() -> None:
    torch.manual_seed(2)
    shapes = [(2, 3, 3, 2), (2, 3, 4), (2, 3, 4), (2, 3, 4), (4, 2), (4,), (4, 2), (2, 4, 2), (2, 2)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(PairAttention.apply, inputs)


# -- learning -----------------------------------------------------------------------------------------


@mirrors
def test_the_gradient_reaches_every_parameter(mirror: Tensor) -> None:
    model = network(mirror, layers=3)
    node_logits, pair_logits = model(*graphs(mirror, count=20))
    target = Seed(2).torch()
    loss = (node_logits * torch.randn(node_logits.shape, generator=target)).sum()
    (loss + (pair_logits * torch.randn(pair_logits.shape, generator=target)).sum()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.isfinite().all()), name
        assert bool(parameter.grad.any()), name


def test_graphs_without_edges_have_a_finite_gradient() -> None:
    model = network(UNDIRECTED)
    nodes, edges, signal, condition = graphs(UNDIRECTED)
    sum(out.square().sum() for out in model(nodes * 0, edges * 0, signal, condition)).backward()
    assert all(bool(p.grad.isfinite().all()) for p in model.parameters() if p.grad is not None)


def test_it_learns() -> None:
    """A few steps bring it to predict the number of edges of a node, which no token says."""
    model = network(UNDIRECTED)
    nodes, edges, signal, condition = graphs(UNDIRECTED, count=24)
    target = (edges > 0).sum(2).clamp(max=NODE_TOKENS - 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(50):
        loss = torch.nn.functional.cross_entropy(
            model(nodes, edges, signal, condition)[0].flatten(0, 1), target.flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_same_seed_same_weights() -> None:
    one, again = network(DIRECTED).state_dict(), network(DIRECTED).state_dict()
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert "mirror" in one


def test_the_papers_size() -> None:
    model = GraphTransformer(NODE_TOKENS, 3, UNDIRECTED, CONDITION)
    assert len(model.layers) == 5
    assert 3_000_000 < sum(parameter.numel() for parameter in model.parameters()) < 5_000_000


# -- refusals -----------------------------------------------------------------------------------------
