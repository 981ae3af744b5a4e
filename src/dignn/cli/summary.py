"""What commands show at their end: accuracies of a model, the best explanation of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dignn.console import accuracies, table

if TYPE_CHECKING:
    from dignn.explanation import Explanations


def print_accuracy(card: dict[str, Any]) -> None:
    fewer = "".join(f", {len(chosen)} columns of {name}" for name, chosen in card.get("columns", {}).items())
    table(
        ("graphs", "part", "accuracy"),
        accuracies(card["accuracy"]),
        title=f"{card['architecture']} on {card['dataset']}, {card['form']} form, seed {card['seed']}{fewer}",
    )


def print_explanations(explanations: Explanations) -> None:
    rows: list[tuple[str, ...]] = []
    for name, several in explanations.items():
        if not several:
            rows.append((name, "no candidate", "", ""))
            continue
        best = several[0]
        words = [] if best.node is None else [column for column, _ in best.top_features(best.node, 8)]
        rows.append((name, f"{best.score:.4f}", best.composition(), ", ".join(words)))
    columns: tuple[str, ...] = ("class", "probability", "nodes", "features of the classified node")
    if not any(row[3] for row in rows):
        columns, rows = columns[:3], [row[:3] for row in rows]
    table(columns, rows, title="Best explanation per class")
