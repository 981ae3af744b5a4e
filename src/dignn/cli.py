"""The command line: ``dignn demo | explain | train | datasets``."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from dignn.config import PRESETS, Config
from dignn.console import ConsoleProgress, accuracies, err, log_to_console, out, table
from dignn.errors import DignnError
from dignn.runtime.progress import Progress

if TYPE_CHECKING:
    from dignn.data import Dataset
    from dignn.explanation import Explanations

Form = Literal["strong", "paper"]
By = Literal["variance", "frequency"]
Name = Annotated[str, tyro.conf.Positional]
Columns = Annotated[tuple[str, ...], tyro.conf.arg(metavar="TYPE=NUMBER ...")]


def _commands(preset: str) -> dict[str, Callable[..., Any]]:
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

    return {"demo": demo, "explain": explain, "train": train, "datasets": datasets}


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
    _print_accuracy(trained.card)


def datasets() -> None:
    """List the data sets: what they are, whether they are on this machine, how to get them.

    Example: dignn datasets
    """
    from dignn.data import DATASETS

    for info in DATASETS.values():
        missing = "not here; get it with --download" if info.downloadable else "not here"
        here = "generated, always here" if info.local is None else "here" if info.available else missing
        out.print(f"[bold]{info.name}[/bold]  ({here})")
        for line in (info.summary, f"{info.task}; {info.size}", f"from: {info.source}", f"licence: {info.licence}"):
            out.print(f"    {line}", soft_wrap=True)


@dataclass(frozen=True)
class FewerColumns:
    """The options that select feature columns; what is wrong without looking at data is refused at once."""

    columns: tuple[str, ...] = ()
    by: By = "variance"
    words_only: bool = False

    def __post_init__(self) -> None:
        if not self.columns and (self.words_only or self.by != "variance"):
            raise DignnError(
                "--columns-by and --words-only need columns to choose; add, for example, --columns author=50"
            )
        self.wanted()

    def wanted(self) -> dict[str, int | str]:
        if not self.columns:
            return {}
        from dignn.data import parse_columns

        return parse_columns(self.columns)

    def of(self, dataset: Dataset) -> Dataset:
        if not self.columns:
            return dataset
        from dignn.data import select_columns

        return select_columns(dataset, self.wanted(), by=self.by, words_only=self.words_only)

    def about(self) -> dict[str, Any]:
        """For a run folder's ``config.json``, whose data set has all columns unless it says otherwise."""
        if not self.columns:
            return {}
        return {"columns": {"chosen": self.wanted(), "by": self.by, "words_only": self.words_only}}


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
        _print_accuracy(trained.card)
    _print_explanations(explanations)
    out.print(f"Report: {folder / 'report.html'}")


def _print_accuracy(card: dict[str, Any]) -> None:
    fewer = "".join(f", {len(chosen)} columns of {name}" for name, chosen in card.get("columns", {}).items())
    table(
        ("graphs", "part", "accuracy"),
        accuracies(card["accuracy"]),
        title=f"{card['architecture']} on {card['dataset']}, {card['form']} form, seed {card['seed']}{fewer}",
    )


def _print_explanations(explanations: Explanations) -> None:
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; a user's mistake gives one sentence and the exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with _termination_interrupts():
            tyro.extras.subcommand_cli_from_dict(
                _commands(_preset(given)),
                prog="dignn",
                description="Explains trained graph neural networks: what does the model think a class looks like?",
                args=given,
            )
    except DignnError as error:
        err.print(f"dignn: {error}", style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt as error:
        err.print("dignn: stopped; the same command goes on where it stopped", soft_wrap=True)
        return 128 + (signal.SIGTERM if isinstance(error, _Terminated) else signal.SIGINT)
    return 0


class _Terminated(KeyboardInterrupt):
    """A request to end (SIGTERM), which takes the same way out as Ctrl-C."""


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """SIGTERM raises, so that worker processes and half-written files are cleared away."""

    def stop(number: int, frame: object) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():  # only the main thread may receive signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _preset(arguments: Sequence[str]) -> str:
    """The value of --preset, which decides the defaults of all other settings."""
    for position, word in enumerate(arguments):
        if word == "--preset" and position + 1 < len(arguments):
            return arguments[position + 1]
        if word.startswith("--preset="):
            return word.removeprefix("--preset=")
    return "fast"
