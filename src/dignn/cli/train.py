"""``dignn train``."""

from __future__ import annotations

from dignn.cli.console import say_json
from dignn.cli.options import Flag, Folder, Known
from dignn.cli.subject import trained_on
from dignn.cli.summary import print_accuracy
from dignn.cli.working import working


def train(
    name: str,
    /,
    *,
    known: Known = Known(),  # noqa: B008 (frozen)
    seed: int = 0,
    out: Folder = None,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Train the model to explain for a data set, and show how accurate it is.

    `dignn explain NAME` does this by itself; train first to look at the model, or to keep it.

    Example: dignn train planted --form strong --seed 0

    With fewer feature columns: dignn train imdb --columns movie=10 director=movie actor=movie

    Args:
        name: data set, see `dignn datasets`.
        seed: same seed, same weights.
        out: folder for model.safetensors and card.json; by default the cache, where `dignn explain` finds it.
        quiet: show only the result.
        json: print the model's card as one JSON object, and nothing else.
    """
    with working(quiet, json) as progress:
        _, trained = trained_on(name, seed, known, progress)
        if out is not None:
            from dignn.zoo.models.checkpoint import save

            save(trained, out)
    if json:
        say_json(trained.card)
    else:
        print_accuracy(trained.card)
