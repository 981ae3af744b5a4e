"""``dignn explain`` and ``dignn demo``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from dignn.cli.options import By, Columns, FewerColumns, Form, Name, Own
from dignn.cli.rebuild import as_noted
from dignn.cli.subject import is_file, of_dataset, of_file
from dignn.cli.summary import print_accuracy, print_summary
from dignn.config import PRESETS, Config
from dignn.console import ConsoleProgress, log_to_console, out
from dignn.errors import DignnError
from dignn.runtime.progress import Progress

if TYPE_CHECKING:
    from dignn.cli.subject import Subject


def demo_with(preset: str) -> Callable[..., None]:
    """The command ``demo`` with the settings of a preset."""
    default = PRESETS[preset]

    def demo(out: Path = Path("runs/demo"), seed: int = 0, quiet: bool = False) -> None:
        """Explain a model on the embedded data set `planted`: no download, a report in about two minutes.

        Example: dignn demo --out runs/demo

        Args:
            out: run folder.
            seed: same seed, same result.
            quiet: show only the result.
        """
        progress = _prepare(default, out, quiet)
        subject = of_dataset("planted", seed, "strong", FewerColumns(), progress, download=False)
        _explain(subject, out, default, preset, seed, progress, quiet)

    return demo


def explain_with(preset: str) -> Callable[..., None]:
    """The command ``explain`` with the settings of a preset as defaults."""
    default = PRESETS[preset]

    def explain(
        name: Name,
        own: Annotated[Own, tyro.conf.arg(name="")] = Own(),  # noqa: B008 (frozen)
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
        """Explain a model, class by class, and write a run folder with a report.

        A data set by name: dignn's own model of it is explained, and trained first if that has not been done yet. A
        file of your own: a HeteroData, a Data or a list of them, written by torch.save; the model is what --model
        returns. A run that was stopped goes on where it stopped.

        Example: dignn explain dblp --out runs/dblp --seed 0

        With fewer feature columns: dignn explain dblp --columns author=50 paper=50 --words-only

        Your own: dignn explain data.pt --model my_gnn.py:load --target author

        Args:
            name: data set, see `dignn datasets`, or data file.
            own: your own data.
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
        folder = out or Path("runs") / Path(name).stem
        if is_file(name):
            if fewer.columns or form != "strong" or download:
                raise DignnError(
                    f"--columns, --form and --download are of data sets that dignn knows, and {name} is a file; leave "
                    "them out (select columns before you train and save)"
                )
            progress = _prepare(config, folder, quiet)
            subject = as_noted(of_file(Path(name), own), folder)
        else:
            if own.given():
                raise DignnError(
                    f"{', '.join(own.given())} needs a data file, and {name} is a data set with a model of its own; "
                    "give a file, or leave it out"
                )
            progress = _prepare(config, folder, quiet)
            subject = of_dataset(name, seed, form, fewer, progress, download=download)
        _explain(subject, folder, config, preset, seed, progress, quiet)

    return explain


def _prepare(config: Config, folder: Path, quiet: bool) -> Progress:
    """Refuses wrong settings and a wrong folder before any work."""
    from dignn.dignnexplainer import DiGNNExplainer
    from dignn.runtime.run import check_folder

    log_to_console(quiet)
    DiGNNExplainer.check_settings(config)
    check_folder(folder)
    return Progress() if quiet else ConsoleProgress()


def _explain(
    subject: Subject, folder: Path, config: Config, preset: str, seed: int, progress: Progress, quiet: bool
) -> None:
    explanations = subject.explainer(config, seed, folder, preset, progress).fit().explain()
    if subject.card is not None and not quiet:
        print_accuracy(subject.card)
    print_summary(explanations)
    out.print(f"Report: {folder / 'report.html'}", soft_wrap=True, markup=False)
