"""The quick denoiser: equivariant with and without directed relations, and able to see what matters in a graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor

from dignn.structure.edge_diffusion.fast_denoiser import FastDenoiser, Pairs, resistances

UNDIRECTED = torch.tensor([0, 1, 2])
DIRECTED = torch.tensor([0, 1, 3, 2, 4])  # tokens 2 and 3 are the two directions of one relation
NODE_TOKENS, CONDITION = 4, 3
LAYOUTS = pytest.mark.parametrize("mirror", [UNDIRECTED, DIRECTED], ids=["undirected", "directed"])


def network(mirror: Tensor, seed: int = 0) -> FastDenoiser:
    torch.manual_seed(seed)
    return FastDenoiser(NODE_TOKENS, len(mirror), mirror, CONDITION).double()


def graphs(mirror: Tensor, count: int, size: int, density: float = 0.25) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Random nodes, edges, signals and conditions."""
    generator = torch.Generator().manual_seed(size)
    token = torch.randint(1, len(mirror), (count, size, size), generator=generator)
    upper = (token * (torch.rand(token.shape, generator=generator) < density)).triu(1)
    edges = upper + mirror[upper].transpose(1, 2)
    nodes = torch.randint(NODE_TOKENS, (count, size), generator=generator)
    signal = torch.rand(count, generator=generator, dtype=torch.float64)
    return nodes, edges, signal, torch.rand(count, CONDITION, generator=generator, dtype=torch.float64)


def full(pair_logits: Tensor, size: int, mirror: Tensor) -> Tensor:
    """Logits of all ordered pairs (B, N, N, E): those of (j, i) are those of (i, j) at mirrored tokens."""
    i, j = torch.triu_indices(size, size, 1)
    matrix = pair_logits.new_zeros(len(pair_logits), size, size, len(mirror))
    matrix[:, i, j] = pair_logits
    matrix[:, j, i] = pair_logits[..., mirror]
    return matrix


@LAYOUTS
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_reordered_nodes_give_reordered_logits(mirror: Tensor, size: int) -> None:
    model = network(mirror)
    nodes, edges, signal, condition = graphs(mirror, 5, size)
    order = torch.randperm(size, generator=torch.Generator().manual_seed(1))
    node_logits, pair_logits = model(nodes, edges, signal, condition)
    again_nodes, again_pairs = model(nodes[:, order], edges[:, order][:, :, order], signal, condition)
    assert node_logits.shape == (5, size, NODE_TOKENS)
    assert pair_logits.shape == (5, size * (size - 1) // 2, len(mirror))
    torch.testing.assert_close(again_nodes, node_logits[:, order])
    expected = full(pair_logits, size, mirror)[:, order][:, :, order]
    torch.testing.assert_close(full(again_pairs, size, mirror), expected)


@LAYOUTS
def test_graphs_of_a_batch_do_not_touch_each_other(mirror: Tensor) -> None:
    model = network(mirror)
    inputs = graphs(mirror, 4, 7)
    together = model(*inputs)
    alone = model(*(value[2:3] for value in inputs))
    for one, other in zip(alone, together, strict=True):
        torch.testing.assert_close(one[0], other[2])


def test_a_directed_edge_is_not_its_mirror() -> None:
    model = network(DIRECTED)
    nodes, edges, signal, condition = graphs(DIRECTED, 3, 6)
    turned = DIRECTED[edges]
    one, other = model(nodes, edges, signal, condition)[1], model(nodes, turned, signal, condition)[1]
    assert (one - other).abs().max() > 1e-3


def test_ends_of_a_pair_can_differ_without_any_directed_edge_yet() -> None:
    model = network(DIRECTED)
    nodes = torch.tensor([[0, 1, 2]])
    nothing = torch.zeros(1, 3, 3, dtype=torch.long)
    logits = model(nodes, nothing, torch.zeros(1).double(), torch.zeros(1, CONDITION).double())[1]
    assert (logits[..., 2] - logits[..., 3]).abs().max() > 1e-3


@LAYOUTS
def test_signal_and_condition_are_heard(mirror: Tensor) -> None:
    model = network(mirror)
    nodes, edges, signal, condition = graphs(mirror, 3, 6)
    for changed in (model(nodes, edges, 1 - signal, condition), model(nodes, edges, signal, 1 - condition)):
        for one, other in zip(model(nodes, edges, signal, condition), changed, strict=True):
            assert (one - other).abs().amax((1, 2)).min() > 1e-4


@LAYOUTS
def test_every_parameter_learns(mirror: Tensor) -> None:
    model = network(mirror)
    nodes, edges, signal, condition = graphs(mirror, 16, 8)
    weights = torch.Generator().manual_seed(0)
    node_logits, pair_logits = model(nodes, edges, signal, condition)
    loss = sum((value * torch.randn(value.shape, generator=weights)).sum() for value in (node_logits, pair_logits))
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_same_seed_same_weights() -> None:
    one, same, other = (network(UNDIRECTED, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(value, same[name]) for name, value in one.items())
    assert not all(torch.equal(value, other[name]) for name, value in one.items())


def test_two_triangles_are_not_a_hexagon() -> None:
    """Neighbourhoods alone cannot tell them apart; noise hides neither of the two from an explanation's reader."""
    hexagon = torch.from_numpy(nx.to_numpy_array(nx.cycle_graph(6))).long()
    triangles = torch.from_numpy(nx.to_numpy_array(nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)))).long()
    edges = torch.stack([hexagon, triangles])
    logits = network(UNDIRECTED)(
        torch.zeros(2, 6, dtype=torch.long), edges, torch.ones(2).double(), torch.zeros(2, CONDITION).double()
    )
    assert all((value[0] - value[1]).abs().max() > 1e-2 for value in logits)


@pytest.mark.parametrize("size", [1, 2, 5, 12, 60])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_resistances_are_those_of_the_pseudo_inverse_in_each_component(size: int, dtype: torch.dtype) -> None:
    rng = np.random.default_rng(size)
    found = [nx.gnp_random_graph(size, min(1.0, share / size), seed=int(rng.integers(99))) for share in (0.8, 1.5, 4)]
    found.append(nx.path_graph(size))
    adjacency = torch.stack([torch.from_numpy(nx.to_numpy_array(graph)) for graph in found]).to(dtype)
    resistance, same = resistances(adjacency)
    assert resistance.dtype == dtype
    for number, graph in enumerate(found):
        expected, connected = np.zeros((size, size)), np.zeros((size, size), dtype=bool)
        for component in map(sorted, nx.connected_components(graph)):
            laplacian = nx.laplacian_matrix(graph, nodelist=component).toarray().astype(float)
            inverse = np.linalg.pinv(laplacian)
            own = inverse.diagonal()
            expected[np.ix_(component, component)] = own[:, None] + own[None, :] - 2 * inverse
            connected[np.ix_(component, component)] = True
        assert np.array_equal(same[number].numpy(), connected)
        # The ground takes a little of the current: least on small graphs, about a tenth on a path of sixty nodes.
        np.testing.assert_allclose(resistance[number].numpy(), expected, rtol=5e-5 * size**2, atol=1e-5)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_stored_pairs_find_their_places(size: int, directed: bool) -> None:
    pairs = Pairs.of(size, directed)
    assert len(pairs.first) == (size * size if directed else size * (size + 1) // 2)
    stored = pairs.stored.reshape(size, size)
    for i in range(size):
        for j in range(size):
            ends = {int(pairs.first[stored[i, j]]), int(pairs.second[stored[i, j]])}
            assert ends == {i, j}
            if directed:
                assert (int(pairs.first[stored[i, j]]), int(pairs.second[stored[i, j]])) == (i, j)
    matrix = torch.arange(size * size).reshape(size, size)
    assert torch.equal(matrix.flatten()[pairs.forward], matrix[pairs.first, pairs.second])
    assert torch.equal(matrix.flatten()[pairs.backward], matrix[pairs.second, pairs.first])
    i, j = torch.triu_indices(size, size, 1)
    assert torch.equal(pairs.above, stored[i, j])
    assert torch.equal(pairs.below, stored[j, i])
    values = torch.rand(size, 3)
    one, other = values[pairs.first], values[pairs.second]
    both = torch.cat([values, 2 * values]) if directed else values
    assert torch.allclose(pairs.ends @ both, one + 2 * other if directed else one + other)
