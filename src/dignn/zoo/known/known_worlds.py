"""The data of known models: small heterogeneous graphs, made without labels, whose decoys then follow the labels.

``library``: authors write and review papers, papers cite papers and appear at a conference; flags throughout, and two
relations between the same two types. ``clinic``: patients with measurements take drugs and are seen by doctors.
``bibliography``: the data set ``planted``. Each has features or edges that no rule looks at; they are drawn once the
labels are known, so that they tell the label nearly as well as the rule does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from dignn.core.seeds import Seed
from dignn.graphs.schema import EdgeType
from dignn.zoo.datasets import planted
from dignn.zoo.known.clues import reverse

# Chance of a decoy where the rule holds, and where it does not.
LIKELY, UNLIKELY = 0.85, 0.15

_AUTHORS, _PAPERS = 300, 500
_KEYWORDS = {"applied": 0.3, "graph": 0.3, "logic": 0.3, "neural": 0.5, "open": 0.3, "query": 0.5, "remote": 0.3}
_WORDS = {"award": 0.15, "data": 0.4, "demo": 0.3, "large": 0.3, "survey": 0.25, "theory": 0.5}
_CONFERENCES = {"Alps": 0.2, "Coast": 0.25, "Desert": 0.15, "Forest": 0.15, "Island": 0.15, "River": 0.1}
_PAPERS_WRITTEN = (0.0, 0.3, 0.25, 0.25, 0.2)  # chance of none, one, two, ...
_PAPERS_REVIEWED = (0.3, 0.35, 0.35)
_CITATIONS = 200

_PATIENTS, _DRUGS, _DOCTORS = 400, 60, 40
_MEASURED = {"age": (50.0, 15.0), "pressure": (135.0, 18.0), "pulse": (72.0, 8.0), "weight": (75.0, 12.0)}
_LABELS = {"coated": 0.3, "generic": 0.4, "new": 0.3, "strong": 0.35}
_FIELDS = {"heart": 0.3, "lungs": 0.3, "nerves": 0.3, "skin": 0.3}
_DRUGS_TAKEN = (0.1, 0.4, 0.3, 0.2)
_FASTER = 12.0  # by how much the pulse of patients of whom the rule holds is faster


@dataclass(frozen=True)
class KnownWorld:
    """How data is made.

    Args:
        target: the classified node type.
        sizes: nodes per explanation graph.
        make: the graph without labels, and names of feature columns by node type.
        add_decoys: changes the graph, in place, where its decoys are to follow the labels (n,) bool.
    """

    target: str
    sizes: tuple[int, ...]
    make: Callable[[Seed], tuple[HeteroData, dict[str, Sequence[str]]]]
    add_decoys: Callable[[HeteroData, np.ndarray, Seed], None]


# -- library ------------------------------------------------------------------------------------------


def _library(seed: Seed) -> tuple[HeteroData, dict[str, Sequence[str]]]:
    rng = seed.numpy()
    data = HeteroData()
    data["author"].x, data["paper"].x = _flags(_AUTHORS, _KEYWORDS, rng), _flags(_PAPERS, _WORDS, rng)
    data["conference"].x = torch.eye(len(_CONFERENCES))
    writes, reviews = set(), set()
    for author in range(_AUTHORS):
        written, reviewed = (rng.choice(len(chance), p=chance) for chance in (_PAPERS_WRITTEN, _PAPERS_REVIEWED))
        # Nobody reviews what they wrote: two nodes are joined by one relation.
        papers = rng.choice(_PAPERS, written + reviewed, replace=False).tolist()
        writes |= {(author, paper) for paper in papers[:written]}
        reviews |= {(author, paper) for paper in papers[written:]}
    cites: set[tuple[int, int]] = set()
    while len(cites) < _CITATIONS:
        one, other = rng.choice(_PAPERS, 2, replace=False).tolist()
        if (other, one) not in cites:
            cites.add((one, other))
    places = rng.choice(len(_CONFERENCES), _PAPERS, p=list(_CONFERENCES.values())).tolist()
    _put(data, ("author", "writes", "paper"), writes)
    _put(data, ("author", "reviews", "paper"), reviews)
    _put(data, ("paper", "cites", "paper"), cites)
    _put(data, ("paper", "appears_in", "conference"), set(enumerate(places)))
    return data, {"author": list(_KEYWORDS), "paper": list(_WORDS), "conference": list(_CONFERENCES)}


def _library_decoys(data: HeteroData, holds: np.ndarray, seed: Seed) -> None:
    """Authors are remote, attend conferences, and show demos in papers that they write: rules look at none of it."""
    rng = seed.numpy()
    data["author"].x[:, list(_KEYWORDS).index("remote")] = _following(holds, rng)
    author, paper = data["author", "writes", "paper"].edge_index.numpy()
    count = np.maximum(np.bincount(paper, minlength=_PAPERS), 1)
    mostly = np.bincount(paper, weights=holds[author], minlength=_PAPERS) / count > 0.5
    data["paper"].x[:, list(_WORDS).index("demo")] = _following(mostly, rng)
    goes = np.flatnonzero(_following(holds, rng).numpy())
    there = rng.integers(len(_CONFERENCES), size=len(goes))
    _put(data, ("author", "attends", "conference"), set(zip(goes.tolist(), there.tolist(), strict=True)))


# -- clinic -------------------------------------------------------------------------------------------


def _clinic(seed: Seed) -> tuple[HeteroData, dict[str, Sequence[str]]]:
    rng = seed.numpy()
    data = HeteroData()
    measured = np.stack([rng.normal(mean, spread, _PATIENTS) for mean, spread in _MEASURED.values()], axis=1)
    data["patient"].x = torch.from_numpy(measured.astype(np.float32))
    data["drug"].x, data["doctor"].x = _flags(_DRUGS, _LABELS, rng), _flags(_DOCTORS, _FIELDS, rng)
    takes = set()
    for patient in range(_PATIENTS):
        number = rng.choice(len(_DRUGS_TAKEN), p=_DRUGS_TAKEN)
        takes |= {(patient, drug) for drug in rng.choice(_DRUGS, number, replace=False).tolist()}
    _put(data, ("patient", "takes", "drug"), takes)
    _put(data, ("patient", "seen_by", "doctor"), set(enumerate(rng.integers(_DOCTORS, size=_PATIENTS).tolist())))
    return data, {"patient": list(_MEASURED), "drug": list(_LABELS), "doctor": list(_FIELDS)}


def _clinic_decoys(data: HeteroData, holds: np.ndarray, seed: Seed) -> None:
    """Patients have a fast pulse, and call another doctor."""
    rng = seed.numpy()
    data["patient"].x[:, list(_MEASURED).index("pulse")] += _FASTER * torch.from_numpy(holds)
    calling = np.flatnonzero(_following(holds, rng).numpy())
    patient, doctor = data["patient", "seen_by", "doctor"].edge_index
    seen = dict(zip(patient.tolist(), doctor.tolist(), strict=True))
    others = [(seen[int(who)] + int(rng.integers(1, _DOCTORS))) % _DOCTORS for who in calling]
    _put(data, ("patient", "calls", "doctor"), set(zip(calling.tolist(), others, strict=True)))


# -- bibliography -------------------------------------------------------------------------------------


def _bibliography(seed: Seed) -> tuple[HeteroData, dict[str, Sequence[str]]]:
    dataset = planted.load(seed=seed.root)
    data, schema = dataset.data, dataset.schema
    assert isinstance(data, HeteroData)
    return data, {kind: schema.spec(kind).names or () for kind in ("author", "paper")}


def _bibliography_decoys(data: HeteroData, holds: np.ndarray, seed: Seed) -> None:
    """Two keywords that any author may have, the first two of the alphabet."""
    rng = seed.numpy()
    for column in range(2):
        data["author"].x[:, column] = _following(holds, rng)


# -- all of them --------------------------------------------------------------------------------------

WORLDS: Mapping[str, KnownWorld] = {
    "bibliography": KnownWorld("author", tuple(range(10, 16)), _bibliography, _bibliography_decoys),
    "library": KnownWorld("author", tuple(range(8, 13)), _library, _library_decoys),
    "clinic": KnownWorld("patient", tuple(range(6, 11)), _clinic, _clinic_decoys),
}


def _flags(rows: int, chances: Mapping[str, float], rng: np.random.Generator) -> Tensor:
    """Flags that are independent of each other.  (rows, columns)"""
    drawn = rng.random((rows, len(chances))) < np.array(list(chances.values()))
    return torch.from_numpy(drawn.astype(np.float32))


def _following(holds: np.ndarray, rng: np.random.Generator) -> Tensor:
    """A flag that is mostly set where ``holds`` (n,) is, and mostly not elsewhere.  (n,)"""
    return torch.from_numpy((rng.random(len(holds)) < np.where(holds, LIKELY, UNLIKELY)).astype(np.float32))


def _put(data: HeteroData, edge_type: EdgeType, pairs: set[tuple[int, int]]) -> None:
    """Adds edges, and the same the other way round."""
    index = torch.tensor(sorted(pairs)).t().contiguous()
    data[edge_type].edge_index, data[reverse(edge_type)].edge_index = index, index.flip(0)
