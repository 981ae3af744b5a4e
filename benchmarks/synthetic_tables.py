"""Tables that are made up, each by a seeded function, for what real data sets here do not have.

Rows depend on hidden causes: a class, a position in the class, and topics for words. So columns depend on each other
across kinds, and by class. :data:`SYNTHETIC` has them by name; ``benchmarks.features`` measures them beside real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from dignn.core.seeds import Seed
from dignn.graphs.feature_spec import Column, ColumnKind, FeatureKind, FeatureSpec

Made = tuple[Tensor, Tensor, FeatureSpec]
"""rows (n, d), conditions (n, C), what the columns hold"""

CLASSES = 3


def _classes(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, Tensor]:
    label = rng.choice(CLASSES, size=rows, p=(0.5, 0.3, 0.2))
    return label, torch.eye(CLASSES)[torch.from_numpy(label)]


def _finished(rows: np.ndarray, condition: Tensor, spec: FeatureSpec) -> Made:
    return torch.from_numpy(rows.astype(np.float32)), condition, spec


# -- columns of several kinds -------------------------------------------------------------------------


def mixed(seed: int, rows: int = 3000, words: int = 0) -> Made:
    """People of a shop: every kind of column, missing values and zeros by class, and words if asked for."""
    rng = Seed(seed).child("mixed", words).numpy()
    label, condition = _classes(rows, rng)
    cause = rng.normal(size=(rows, 3)) + 0.8 * np.eye(CLASSES)[label]
    age = np.clip(35 + 12 * cause[:, 0] + 4 * rng.normal(size=rows), 18, 90).round(1)
    member = (cause[:, 0] + cause[:, 1] + 0.5 * rng.normal(size=rows) > 0.5).astype(float)
    income = np.exp(9 + 0.8 * cause[:, 0] + 0.4 * member + 0.3 * rng.standard_t(3, size=rows))
    visits = rng.poisson(np.exp(0.6 * cause[:, 1])).clip(0, 9).astype(float)
    spent = np.where(visits == 0, 0.0, visits * np.exp(2 + 0.5 * cause[:, 2] + 0.3 * rng.normal(size=rows)))
    region = _choose(cause @ rng.normal(size=(3, 5)), rng)
    colour = _choose(np.eye(5)[region] @ rng.normal(size=(5, 4)) * 1.5 + cause[:, 1:2] * np.arange(4), rng)
    clicks = rng.negative_binomial(2, 1 / (1 + np.exp(3 + 0.7 * cause[:, 2]))).astype(float)
    joined = (15000 + 900 * cause[:, 1] - 12 * age + 200 * rng.normal(size=rows)).round()
    rating = np.clip(3 + cause[:, 2] + 0.5 * rng.normal(size=rows), 1, 5)  # many at both ends
    income[rng.random(rows) < np.array([0.05, 0.3, 0.1])[label]] = np.nan
    joined[(rng.random(rows) < 0.2) & (member == 0)] = np.nan
    parts = [age, member, income, visits, spent, region, *np.eye(4)[colour].T, clicks, joined, rating, np.full(rows, 7)]
    columns = [
        Column(ColumnKind.CONTINUOUS),
        Column(ColumnKind.BINARY),
        Column(ColumnKind.CONTINUOUS, missing=True),
        Column(ColumnKind.COUNT, levels=10),
        Column(ColumnKind.CONTINUOUS),
        Column(ColumnKind.CATEGORICAL, levels=5),
        *[Column(ColumnKind.ONE_HOT, group=0)] * 4,
        Column(ColumnKind.COUNT, levels=int(clicks.max()) + 1),
        Column(ColumnKind.DATE, missing=True, unit="days", epoch="1970-01-01"),
        Column(ColumnKind.CONTINUOUS),
        Column(ColumnKind.CONSTANT, constant=7.0),
    ]
    found = np.stack(parts, axis=1)
    if words:
        chance = _topics(label, words, rng, cause[:, :2])
        length = rng.poisson(12 * np.exp(0.3 * cause[:, 2])).clip(1)
        there = np.stack([rng.multinomial(n, p) > 0 for n, p in zip(length, chance, strict=True)])
        found = np.concatenate([found, there], axis=1)
        columns += [Column(ColumnKind.BINARY)] * words
    return _finished(found, condition, FeatureSpec(FeatureKind.MIXED, found.shape[1], columns=tuple(columns)))


def heavy(seed: int, rows: int = 3000) -> Made:
    """Continuous columns without a variance, which depend on each other."""
    rng = Seed(seed).child("heavy").numpy()
    label, condition = _classes(rows, rng)
    base = rng.normal(size=(rows, 3)) + np.eye(CLASSES)[label]
    mixed_up = base @ rng.normal(size=(3, 8)) * 0.7 + 0.5 * rng.normal(size=(rows, 8))
    found = np.where(np.arange(8) % 2, np.exp(1.5 * mixed_up), np.sinh(1.5 * mixed_up))
    return _finished(found, condition, FeatureSpec(FeatureKind.CONTINUOUS, 8))


# -- words --------------------------------------------------------------------------------------------


def _topics(label: np.ndarray, columns: int, rng: np.random.Generator, cause: np.ndarray | None = None) -> np.ndarray:
    """Probabilities of words for each row: 12 topics, of which rows have few and classes have some.  (n, d)"""
    zipf = 1 / (np.arange(columns) + 5.0)
    topic = rng.dirichlet(0.02 * columns * zipf / zipf.sum() + 1e-3, size=12) + 0.3 * zipf / zipf.sum()
    topic /= topic.sum(1, keepdims=True)
    liked = 0.05 + (rng.random((CLASSES, 12)) < 0.3) * 0.4
    share = np.stack([rng.dirichlet(liked[one]) for one in label])
    if cause is not None:
        share = share * np.exp(cause @ rng.normal(size=(cause.shape[1], 12)))
        share /= share.sum(1, keepdims=True)
    return share @ topic


def _counts(label: np.ndarray, columns: int, rng: np.random.Generator) -> np.ndarray:
    chance = _topics(label, columns, rng)
    length = np.exp(rng.normal(np.log(40), 0.5, size=len(label))).astype(int).clip(3, 400)
    return np.stack([rng.multinomial(n, p) for n, p in zip(length, chance, strict=True)])


def tfidf(seed: int, columns: int, rows: int = 3000) -> Made:
    """Word counts times the logarithm of how rare a word is, rows of length 1, as scikit-learn makes them."""
    rng = Seed(seed).child("tfidf", columns).numpy()
    label, condition = _classes(rows, rng)
    count = _counts(label, columns, rng)
    rare = np.log((1 + rows) / (1 + (count > 0).sum(0))) + 1
    found = count * rare
    found = found / np.linalg.norm(found, axis=1, keepdims=True).clip(1e-9)
    return _finished(found, condition, FeatureSpec(FeatureKind.CONTINUOUS, columns))


def bag(seed: int, columns: int = 1000, rows: int = 3000) -> Made:
    """Word counts divided by their sum."""
    rng = Seed(seed).child("bag", columns).numpy()
    label, condition = _classes(rows, rng)
    count = _counts(label, columns, rng)
    found = count / count.sum(1, keepdims=True).clip(1)
    return _finished(found, condition, FeatureSpec(FeatureKind.CONTINUOUS, columns))


def aggregate(seed: int, how: str, columns: int = 1900, rows: int = 2500) -> Made:
    """Authors by the words of their papers: sums, means, or means of length 1 of 1 to 60 binary or normalised rows."""
    rng = Seed(seed).child("aggregate", how).numpy()
    label, condition = _classes(rows, rng)
    papers = rng.zipf(1.9, size=rows).clip(1, 60)
    chance = _topics(label, columns, rng)
    found = np.zeros((rows, columns))
    for row, (number, p) in enumerate(zip(papers, chance, strict=True)):
        for _ in range(number):
            words = (rng.multinomial(max(3, int(rng.normal(15, 5))), p) > 0).astype(float)
            found[row] += words / words.sum() if how == "normalised" else words
    if how != "sum":
        found /= papers[:, None]
    if how == "unit":
        found /= np.linalg.norm(found, axis=1, keepdims=True)
    kind = FeatureKind.COUNT if how == "sum" else FeatureKind.CONTINUOUS
    levels = (int(found.max()) + 1,) * columns if kind is FeatureKind.COUNT else None
    return _finished(found, condition, FeatureSpec(kind, columns, levels=levels))


# -- embeddings ---------------------------------------------------------------------------------------


def embedding(seed: int, columns: int, unit: bool = False, rows: int = 3000) -> Made:
    """What a network makes of a position in a class: a curved surface of 12 dimensions in many, and a little noise."""
    rng = Seed(seed).child("embedding", columns).numpy()
    label, condition = _classes(rows, rng)
    cause = rng.normal(size=(rows, 12)) * np.linspace(1.5, 0.3, 12) + 1.5 * np.eye(CLASSES, 12)[label]
    hidden = np.tanh(cause @ rng.normal(size=(12, 64)) * 0.35 + 0.2 * rng.normal(size=64))
    found = hidden @ rng.normal(size=(64, columns)) / 8 + rng.normal(size=columns)
    spread = np.linspace(0.3, 0.05, columns)
    found = found + rng.normal(size=(rows, columns)) * spread @ np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    if unit:
        found = found / np.linalg.norm(found, axis=1, keepdims=True)
    return _finished(found, condition, FeatureSpec(FeatureKind.CONTINUOUS, columns))


def _choose(score: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One of several by scores with Gumbel noise.  (n, k) -> (n,)"""
    return (score + rng.gumbel(size=score.shape)).argmax(1)


SYNTHETIC: dict[str, Callable[[int], Made]] = {
    "mixed-14": mixed,
    "mixed-words-1014": partial(mixed, words=1000),
    "heavy-8": heavy,
    "tfidf-500": partial(tfidf, columns=500),
    "tfidf-2000": partial(tfidf, columns=2000),
    "tfidf-5000": partial(tfidf, columns=5000),
    "bag-1000": bag,
    "sums-1900": partial(aggregate, how="sum"),
    "means-1900": partial(aggregate, how="mean"),
    "means-of-shares-1900": partial(aggregate, how="normalised"),
    "unit-means-1900": partial(aggregate, how="unit"),
    "embedding-64": partial(embedding, columns=64),
    "embedding-64-unit": partial(embedding, columns=64, unit=True),
    "embedding-256": partial(embedding, columns=256),
    "embedding-256-unit": partial(embedding, columns=256, unit=True),
    "embedding-768": partial(embedding, columns=768),
    "embedding-768-unit": partial(embedding, columns=768, unit=True),
}
