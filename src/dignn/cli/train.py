"""``dignn train``."""

from __future__ import annotations

from dignn.cli.options import By, Columns, FewerColumns, Flag, Folder, Form, Name
from dignn.cli.shown import load_torch, working
from dignn.cli.summary import print_accuracy
from dignn.console import say_json


def train(
    name: Name,
    form: Form = "strong",
    seed: int = 0,
    out: Folder = None,
    columns: Columns = (),
    columns_by: By = "variance",
    words_only: Flag = False,
    download: Flag = False,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Train the model to explain for a data set, and show how accurate it is.

    `dignn explain NAME` does this by itself; train first to look at the model, or to keep it.

    Example: dignn train planted --form strong --seed 0

    With fewer feature columns: dignn train imdb --columns movie=10 director=movie actor=movie

    Args:
        name: data set, see `dignn datasets`.
        form: the paper's form, or a strong one.
        seed: same seed, same weights.
        out: folder for model.safetensors and card.json; by default the cache, where `dignn explain` finds it.
        columns: feature columns to keep, by node type, for the model and the generators alike. A type instead of
            a number, as in director=movie, keeps the very columns that are kept of that type.
        columns_by: keep those that vary most, or those that are not 0 most often.
        words_only: keep no column named by punctuation, a number, a single letter or a stop word.
        download: fetch the data set if it is not on this machine.
        quiet: show only the result.
        json: print the model's card as one JSON object, and nothing else.
    """
    with working(quiet, json) as progress:
        load_torch(progress)
        from dignn.data import load
        from dignn.gnn import checkpoint

        fewer = FewerColumns(columns, columns_by, words_only)
        dataset = fewer.of(load(name, seed=seed, download=download))
        with progress.stage("Training the model") as tick:
            trained = checkpoint.trained_model(dataset, form, seed, progress=tick)
        if out is not None:
            checkpoint.save(trained, out)
    if json:
        say_json(trained.card)
    else:
        print_accuracy(trained.card)
