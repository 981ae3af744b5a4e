"""``dignn explain`` and ``dignn demo``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro

from dignn.cli.options import By, Columns, FewerColumns, Form, Name
from dignn.cli.summary import print_accuracy, print_explanations
from dignn.config import PRESETS, Config
from dignn.console import ConsoleProgress, log_to_console, out
from dignn.runtime.progress import Progress


def demo_with(preset: str) -> Callable[..., None]:
    """The command ``demo`` with the settings of a preset."""
    default = PRESETS[preset]

    def demo(out: Path = Path("runs/demo"), seed: int = 0, quiet: bool = False) -> None:
        """Explain a model on the embedded data set `planted`: no download, a report in two minutes.

        Example: dignn demo --out runs/demo

        Args:
            out: run folder.
            seed: same seed, same result.
            quiet: show only the result.
        """
        _explain("planted", out, default, preset, seed, "strong", FewerColumns(), download=False, quiet=quiet)

    return demo


def explain_with(preset: str) -> Callable[..., None]:
    """The command ``explain`` with the settings of a preset as defaults."""
    default = PRESETS[preset]

    def explain(
        name: Name,
        config: Annotated[Config, tyro.conf.arg(name="")] = default,
        out: Path | None = None,
        seed: int = 0,
        preset: str = preset,
        form: Form = "strong",
        columns: Columns = (),
        columns_by: By = "variance",
        words_only: bool = False,
        download: bool = False,
        quiet: bool = False,
    ) -> None:
        """Explain a model on a data set, class by class, and write a run folder with a report.

        The model is trained first if that has not been done yet. A run that was stopped goes on where it stopped.

        Example: dignn explain dblp --out runs/dblp --seed 0

        With fewer feature columns: dignn explain dblp --columns author=50 paper=50 --words-only

        Args:
            name: data set, see `dignn datasets`.
            config: settings.
            out: run folder; by default runs/NAME.
            seed: same seed, same result.
            preset: settings to start from: fast, paper or smoke.
            form: which of the two models of the data set is explained.
            columns: feature columns to keep, by node type, for the model and the generator; director=movie keeps
                the very columns that are kept of movies.
            columns_by: keep those that vary most, or those that are not 0 most often.
            words_only: keep no column named by punctuation, a number, a single letter or a stop word.
            download: fetch the data set if it is not on this machine.
            quiet: show only the result.
        """
        fewer = FewerColumns(columns, columns_by, words_only)
        folder = out or Path("runs") / name
        _explain(name, folder, config, preset, seed, form, fewer, download=download, quiet=quiet)

    return explain


def _explain(
    name: str,
    folder: Path,
    config: Config,
    preset: str,
    seed: int,
    form: Form,
    fewer: FewerColumns,
    *,
    download: bool,
    quiet: bool,
) -> None:
    from dignn.data import load
    from dignn.explainer import DiGNNExplainer
    from dignn.gnn.checkpoint import trained_model
    from dignn.runtime.run import check_folder

    log_to_console(quiet)
    DiGNNExplainer.check_settings(config)
    check_folder(folder)
    dataset = fewer.of(load(name, seed=seed, download=download))
    progress = Progress() if quiet else ConsoleProgress()
    with progress.stage("Training the model") as tick:
        trained = trained_model(dataset, form, seed, progress=tick)
    explainer = DiGNNExplainer(
        trained.model,
        dataset.data,
        schema=dataset.schema,
        config=config if config.sizes is not None else replace(config, sizes=dataset.sizes),
        seed=seed,
        folder=folder,
        about={"dataset": name, "form": form, "preset": preset, **fewer.about()},
        progress=progress,
    )
    explanations = explainer.fit().explain()
    if not quiet:
        print_accuracy(trained.card)
    print_explanations(explanations)
    out.print(f"Report: {folder / 'report.html'}")
