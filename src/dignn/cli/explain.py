"""``dignn explain`` and ``dignn demo``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from dignn.cli.options import FewerColumns, Flag, Folder, Known, Name, Own, Preset
from dignn.cli.rebuild import as_noted
from dignn.cli.shown import load_torch, working
from dignn.cli.subject import is_file, of_dataset, of_file
from dignn.cli.summary import print_accuracy, print_summary, summary
from dignn.config import PRESETS, Config
from dignn.console import say_json, say_path
from dignn.errors import DignnError

if TYPE_CHECKING:
    from dignn.cli.subject import Subject
    from dignn.explanation import Explanations


def demo_with(preset: str) -> Callable[..., None]:
    """The command ``demo`` with the settings of a preset."""
    default = PRESETS[preset]

    def demo(
        out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")] = Path("runs/demo"),
        seed: int = 0,
        preset: Preset = preset,
        quiet: Flag = False,
        json: Flag = False,
    ) -> None:
        """Explain a model on the embedded data set `planted`: no download, a report in about two minutes.

        The model sorts authors into four classes whose patterns are known, because they were planted. Open the
        report that is named at the end in a browser.

        Example: dignn demo

        Quick, to see that everything works (its explanations are poor): dignn demo --preset smoke --out runs/smoke

        Args:
            out: run folder. A demo that was stopped goes on there.
            seed: same seed, same result.
            preset: settings: fast, the paper's, or, just to see that everything works, smoke.
            quiet: show only the result.
            json: print a summary as one JSON object, and nothing else.
        """
        with working(quiet, json) as progress:
            load_torch(progress)
            _check(default, out)
            subject = of_dataset("planted", seed, "strong", FewerColumns(), progress, download=False)
            explanations = subject.explainer(default, seed, out, preset, progress).fit().explain()
        _show(explanations, subject, out, quiet, json)

    return demo


def explain_with(preset: str) -> Callable[..., None]:
    """The command ``explain`` with the settings of a preset as defaults."""
    default = PRESETS[preset]

    def explain(
        name: Name,
        known: Known = Known(),  # noqa: B008 (frozen)
        own: Own = Own(),  # noqa: B008 (frozen)
        config: Annotated[Config, tyro.conf.arg(name="")] = default,
        out: Folder = None,
        seed: int = 0,
        preset: Preset = preset,
        quiet: Flag = False,
        json: Flag = False,
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
            config: settings.
            out: run folder; by default runs/NAME.
            seed: same seed, same result.
            preset: settings to start from: fast, the paper's, or, just to see that everything works, smoke.
            quiet: show only the result.
            json: print a summary as one JSON object, and nothing else: the run folder, the report, seconds, the best
                explanation of each class, the main figures beside their floors.
        """
        fewer = known.fewer()
        folder = out or Path("runs") / Path(name).stem
        with working(quiet, json) as progress:
            load_torch(progress)
            file = is_file(name)
            _refuse_options(name, known, own, file=file)
            _check(config, folder)
            if file:
                subject = as_noted(of_file(Path(name), own), folder)
            else:
                subject = of_dataset(name, seed, known.form, fewer, progress, download=known.download)
            explanations = subject.explainer(config, seed, folder, preset, progress).fit().explain()
        _show(explanations, subject, folder, quiet, json)

    return explain


def _refuse_options(name: str, known: Known, own: Own, *, file: bool) -> None:
    """Refuses options of a data set that were given with a file, and those of a file given with a data set."""
    if file and known != Known():
        raise DignnError(
            f"--columns, --form and --download are of data sets that dignn knows, and {name} is a file; "
            "leave them out (select columns before you train and save)"
        )
    if not file and own.given():
        raise DignnError(
            f"{', '.join(own.given())} needs a data file, and {name} is a data set with a model of its own; give a "
            "file, or leave it out"
        )


def _check(config: Config, folder: Path) -> None:
    """Refuses wrong settings and a wrong folder before any work."""
    from dignn.dignnexplainer import DiGNNExplainer
    from dignn.runtime.run import check_folder

    DiGNNExplainer.check_settings(config)
    check_folder(folder)


def _show(explanations: Explanations, subject: Subject, folder: Path, quiet: bool, json: bool) -> None:
    if json:
        say_json(summary(explanations, folder))
        return
    if subject.card is not None and not quiet:
        print_accuracy(subject.card)
    print_summary(explanations)
    say_path("Report", folder / "report.html")
