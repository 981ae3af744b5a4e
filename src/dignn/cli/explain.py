"""``dignn explain`` and ``dignn demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dignn.cli.console import say_json, say_path
from dignn.cli.options import EXPLAINER, Flag, Folder, Known, Method, Own, Preset, check_names, settings_of
from dignn.cli.rebuild import as_noted
from dignn.cli.subject import is_file, of_dataset, of_file, refuse_options
from dignn.cli.summary import print_accuracy, print_explanations, print_figures, print_goes_by, summary
from dignn.cli.working import working
from dignn.core.presets import DEFAULT_PRESET
from dignn.core.run_folder import check_folder
from dignn.evidence.registry import MARKED_BY, check_markers
from dignn.explainers.settings import RunSettings

if TYPE_CHECKING:
    from dignn.cli.subject import Subject
    from dignn.explainers.base import Explainer
    from dignn.explanations.explanation import Explanations

Marks = Annotated[
    tuple[str, ...], Parameter(metavar=f"{{{','.join(MARKED_BY)}}} ...", consume_multiple=1, show_default=False)
]


def demo(
    *,
    out: Annotated[Path, Parameter(metavar="FOLDER")] = Path("runs/demo"),
    seed: int = 0,
    preset: Preset = DEFAULT_PRESET,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Explain a model on the embedded data set `planted`: no download, a report in about two minutes.

    The model sorts authors into four classes whose patterns are known, because they were planted. Open the report that
    is named at the end in a browser.

    Example: dignn demo

    Quick, to see that everything works (its explanations are poor): dignn demo --preset smoke --out runs/smoke

    Args:
        out: run folder. A demo that was stopped goes on there.
        seed: same seed, same result.
        preset: settings: fast, thorough, the paper's, or, just to see that everything works, smoke.
        quiet: show only the result.
        json: print a summary as one JSON object, and nothing else.
    """
    config = settings_of(EXPLAINER, preset)
    check_folder(out)
    with working(quiet, json) as progress:
        subject = of_dataset("planted", seed, Known(), progress)
        explainer = subject.explainer(EXPLAINER, config, seed, out, preset, progress)
        explanations = _explained(explainer, subject, quiet, json)
    _show(explanations, out, json)


def explain(
    name: str,
    /,
    *,
    config: RunSettings,
    known: Known = Known(),  # noqa: B008 (frozen)
    own: Own = Own(),  # noqa: B008 (frozen)
    out: Folder = None,
    seed: int = 0,
    explainer: Method = EXPLAINER,
    preset: Preset = DEFAULT_PRESET,
    marks: Marks = (),
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Explain a model, class by class, and write a run folder with a report.

    A data set by name: dignn's own model of it is explained, and trained first if that has not been done yet. A file of
    your own: a HeteroData, a Data or a list of them, written by torch.save; the model is what --model returns. The
    explanations are shown first, and on the page; then what the model goes by, in words, and figures of all. A run that
    was stopped goes on where it stopped.

    Example: dignn explain dblp --out runs/dblp --seed 0

    With fewer feature columns: dignn explain dblp --columns author=50 paper=50 --words-only

    Your own: dignn explain data.pt --model my_gnn.py:load --target author

    Args:
        name: data set, see `dignn datasets`, or data file.
        out: run folder; by default runs/NAME.
        seed: same seed, same result.
        explainer: where explanations come from: generated graphs (dignnexplainer), another published method (xgnn,
            gnninterpreter, d4explainer, graphvae), real graphs (prototypes, confident-real, random-real) or random
            trees; each has settings of its own.
        preset: settings to start from: fast, thorough, the paper's, or, just to see that everything works, smoke;
            other explainers have fast and smoke, and gnninterpreter, d4explainer and graphvae their paper's.
        marks: mark the explanations beside their own evidence by PyTorch Geometric's GNNExplainer (gnnexplainer) or by
            Captum's integrated gradients (captum, from pip install dignnexplainer[captum]), and tell how far they
            agree. A finished run gets marks, and keeps them.
        quiet: show only the result.
        json: print a summary as one JSON object, and nothing else: the run folder, the report, seconds, the best
            explanation of each class, the main figures beside their floors.
    """
    folder = out or Path("runs") / Path(name).stem
    file = is_file(name)
    refuse_options(name, known, own, file=file)
    check_names(config)
    check_markers(marks)
    check_folder(folder)
    with working(quiet, json) as progress:
        if file:
            subject = as_noted(of_file(Path(name), own, progress), folder)
        else:
            subject = of_dataset(name, seed, known, progress)
        method = subject.explainer(explainer, config, seed, folder, preset, progress)
        explanations = _explained(method, subject, quiet, json, marks)
    _show(explanations, folder, json)


def _explained(
    explainer: Explainer, subject: Subject, quiet: bool, json: bool, marks: tuple[str, ...] = ()
) -> Explanations:
    """Explanations, shown as soon as they are there, then what the model goes by; then they are measured."""
    explanations = explainer.check(marks=marks).fit().explain(marks=marks or None, measure=False)
    if not json:
        if subject.card is not None and not quiet:
            print_accuracy(subject.card)
        print_explanations(explanations)
        print_goes_by(explainer.study())
    return explainer.measure()


def _show(explanations: Explanations, folder: Path, json: bool) -> None:
    """The end: everything as JSON, or what was measured after the explanations were shown."""
    if json:
        say_json(summary(explanations, folder))
        return
    print_figures(explanations)
    say_path("Report", folder / "report.html")
