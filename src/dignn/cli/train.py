"""``dignn train``."""

from __future__ import annotations

from pathlib import Path

from dignn.cli.options import By, Columns, FewerColumns, Form, Name
from dignn.cli.summary import print_accuracy
from dignn.console import ConsoleProgress, log_to_console
from dignn.runtime.progress import Progress


def train(
    name: Name,
    form: Form = "strong",
    seed: int = 0,
    out: Path | None = None,
    columns: Columns = (),
    columns_by: By = "variance",
    words_only: bool = False,
    download: bool = False,
    quiet: bool = False,
) -> None:
    """Train the model to explain for a data set, and show how accurate it is.

    Example: dignn train planted --form strong --seed 0

    With fewer feature columns: dignn train imdb --columns movie=10 director=movie actor=movie

    Args:
        name: data set, see `dignn datasets`.
        form: the paper's form, or a strong one.
        seed: same seed, same weights.
        out: folder for model.safetensors and card.json; by default the cache, where `dignn explain` finds it.
        columns: feature columns to keep, by node type, for the model and the generator; director=movie keeps
            the very columns that are kept of movies.
        columns_by: keep those that vary most, or those that are not 0 most often.
        words_only: keep no column named by punctuation, a number, a single letter or a stop word.
        download: fetch the data set if it is not on this machine.
        quiet: show only the result.
    """
    from dignn.data import load
    from dignn.gnn import checkpoint

    log_to_console(quiet)
    fewer = FewerColumns(columns, columns_by, words_only)
    dataset = fewer.of(load(name, seed=seed, download=download))
    progress = Progress() if quiet else ConsoleProgress()
    with progress.stage("Training the model") as tick:
        trained = checkpoint.trained_model(dataset, form, seed, progress=tick)
    if out is not None:
        checkpoint.save(trained, out)
    print_accuracy(trained.card)
