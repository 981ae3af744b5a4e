"""What a graph looks like in numbers: cycles, spectrum, walks, distances and components of adjacency matrices.

A network that only mixes neighbours cannot count cycles or see whether a graph is connected; DiGress (Vignac et
al., ICLR 2023, section "Structural and spectral features") gives it such numbers as inputs. Every function takes
``adjacency`` (B, N, N): float, symmetric, 0 or 1, zero diagonal. All graphs of a batch have N nodes, so there is no
padding and no mask. The functions run at every training step, so they loop over lengths, never over graphs.
All of them are equivariant: reordering the nodes reorders the results.
"""

from __future__ import annotations

import torch
from torch import Tensor

# Eigenvalues of a Laplacian of at most a few hundred nodes that are nearer than this are one eigenvalue.
SAME_EIGENVALUE = 1e-6


def cycle_counts(adjacency: Tensor) -> tuple[Tensor, Tensor]:
    """Exact numbers of cycles: (node (B, N, 3), graph (B, 4)).

    ``node``: cycles of length 3, 4 and 5 through each node; ``graph``: cycles of length 3, 4, 5 and 6 in all. A
    closed walk of length k is a cycle or lies on a smaller figure; the formulas subtract those figures (Harary and
    Manvel, "On the number of cycles in a graph", 1971). Walks are counted in float64: their number passes 2^24,
    where float32 stops counting, in dense graphs with 16 nodes.
    """
    one = adjacency.double()
    two = one @ one
    three = two @ one
    degree = one.sum(2)
    walk3 = three.diagonal(dim1=1, dim2=2)  # closed walks of length 3 from each node, and so on
    walk4 = two.square().sum(2)
    walk5 = (two * three).sum(2)
    paired = one * two  # on an edge: its triangles
    around = (torch.stack([degree, walk3], 1) @ one).unbind(1)  # sums over neighbours

    three_cycles = walk3 / 2
    four_cycles = (walk4 - degree * (degree - 1) - around[0]) / 2
    lollipops = 2 * (paired @ degree[:, :, None]).squeeze(2) + 2 * degree * walk3 + around[1] - 5 * walk3
    five_cycles = (walk5 - lollipops) / 2
    node = torch.stack([three_cycles, four_cycles, five_cycles], 2)

    six_cycles = (
        three.square().sum((1, 2))  # closed walks of length 6
        - 3 * walk3.square().sum(1)
        + 9 * (paired * two).sum((1, 2))
        - 6 * (degree * walk4).sum(1)
        + 6 * walk4.sum(1)
        - 4 * walk3.sum(1)
        + 4 * degree.pow(3).sum(1)
        + 3 * three.sum((1, 2))
        - 12 * degree.square().sum(1)
        + 4 * degree.sum(1)
    ) / 12
    graph = torch.cat([node.sum(1) / node.new_tensor([3.0, 4.0, 5.0]), six_cycles[:, None]], 1)
    return node.to(adjacency.dtype), graph.to(adjacency.dtype)


def spectral_features(adjacency: Tensor, values: int = 5, vectors: int = 2) -> tuple[Tensor, Tensor]:
    """Spectrum of the Laplacian D - A: (node (B, N, 1 + vectors), graph (B, 1 + values)).

    ``graph``: the number of connected components, then the smallest non-zero eigenvalues in ascending order, 0 where
    there are no more (no other entry is 0). ``node``: 1 in the largest component (in all of them where several are
    largest, so that node order cannot decide), then for each of the first ``vectors`` non-zero eigenvalues the
    size of the node's entry.

    An eigenvector has no sign of its own, and in symmetric graphs (where eigenvalues coincide) no direction either.
    The length of a node's projection on the eigenspace has both out of the question: |v| for a simple eigenvalue, the
    root mean square over any basis of the eigenspace otherwise.
    """
    size = adjacency.size(1)
    exact = adjacency.double()
    value, vector = torch.linalg.eigh(torch.diag_embed(exact.sum(2)) - exact)  # ascending
    _, component_size, components_count = components(adjacency)

    wanted = max(values, vectors)
    place = components_count[:, None] + torch.arange(
        wanted, device=value.device
    )  # as many eigenvalues are 0 as there are components
    there = place < size
    place = place.clamp(max=size - 1)
    chosen = value.gather(1, place) * there  # (B, wanted)
    equal = (value[:, None, :] - chosen[:, :vectors, None]).abs() < SAME_EIGENVALUE
    equal = (equal & there[:, :vectors, None]).double()  # (B, vectors, N)
    square = vector.square() @ (equal / equal.sum(2, keepdim=True).clamp(min=1)).transpose(1, 2)
    largest = component_size == component_size.amax(1, keepdim=True)
    node = torch.cat([largest[:, :, None].double(), square.sqrt()], 2)
    graph = torch.cat([components_count[:, None].double(), chosen[:, :values]], 1)
    return node.to(adjacency.dtype), graph.to(adjacency.dtype)


def symmetric_walk(adjacency: Tensor, steps: int) -> Tensor:
    """Powers 1 to ``steps`` of D^-1/2 A D^-1/2, which are symmetric in i and j.  (B, N, N, steps)"""
    scale = adjacency.sum(2).clamp(min=1).rsqrt()
    walk = adjacency * scale[:, :, None] * scale[:, None, :]
    powers = [walk]
    for _ in range(steps - 1):
        powers.append(powers[-1] @ walk)
    return torch.stack(powers, 3)


def components(adjacency: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Connected components: (same (B, N, N) bool, size (B, N) long, count (B,) long).

    ``same[b, i, j]`` says whether i and j are connected, ``size`` how many nodes the component of i has.
    """
    near = adjacency + torch.eye(adjacency.size(1), dtype=adjacency.dtype, device=adjacency.device)
    radius = 1
    while radius < adjacency.size(1) - 1:
        near = (near @ near).clamp_(max=1)
        radius *= 2
    same = near > 0
    size = same.sum(2)
    # Each node counts for its share of the component; the first node would do too, but needs a search.
    return same, size, (1 / size.double()).sum(1).round().long()
