"""Modified Kneser-Ney smoothing in plain loops: what frequencies of columns by class are tested against."""

from __future__ import annotations

import math

import numpy as np

PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)
BORROWED = (0.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0)


def discounts(rows: np.ndarray) -> list[float]:
    """Of columns that 0, 1, 2, and 3 or more rows of a class have, by how many rows (C, d) of classes have columns."""
    once, twice, thrice, four = (int((rows == number).sum()) for number in (1, 2, 3, 4))
    if min(once, twice, thrice, four) < 5:
        return [0.0, 0.5, 1.0, 1.5]
    ratio = once / (once + 2 * twice)
    levels = [1 - 2 * ratio * twice / once, 2 - 3 * ratio * thrice / twice, 3 - 4 * ratio * four / thrice]
    return [0.0, *(min(max(level, 0.0), number + 1.0) for number, level in enumerate(levels))]


def plain_frequencies(there: np.ndarray, label: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(C + 1, d) of entries (n, d) by class, the last row of all rows; and without one of the rows that have each."""
    classes, columns = label.max() + 1, there.shape[1]
    weight = weight / weight.mean()
    rows, entries = np.zeros((classes, columns)), np.zeros((classes, columns))
    for row, own, times in zip(there, label, weight, strict=True):
        rows[own] += row
        entries[own] += row * times
    everywhere = entries.sum(0) / entries.sum()
    one_less = np.array([p * max(1 - 1 / max(n, 1), 0.5) for p, n in zip(everywhere, rows.sum(0), strict=True)])
    several = (rows > 0).sum(0) / (rows > 0).sum()
    level = discounts(rows)
    kept, left, lacking = np.zeros_like(rows), np.zeros_like(rows), np.zeros(classes)
    for own in range(classes):
        for column in range(columns):
            number = rows[own, column]
            if number:
                kept[own, column] = entries[own, column] * (1 - level[min(int(number), 3)] / number)
                left[own, column] = kept[own, column] * (1 - 1 / number)
                lacking[own] += entries[own, column] - kept[own, column]

    def mixed(own: np.ndarray, of_all: np.ndarray, part: float, borrowed: float) -> np.ndarray:
        shared = np.outer(lacking, part * of_all + (1 - part) * several) + borrowed * of_all
        return (own + shared) / (entries.sum(1, keepdims=True) + borrowed)

    best, most = (0.0, 0.0), -math.inf
    for part in PARTS:
        for borrowed in BORROWED:
            chance = mixed(left, one_less, part, borrowed)
            said = sum(n * math.log(p) for n, p in zip(entries.ravel(), chance.ravel(), strict=True) if n)
            if said > most:
                best, most = (part, borrowed), said
    return np.vstack([mixed(kept, everywhere, *best), everywhere]), np.vstack([mixed(left, one_less, *best), one_less])
