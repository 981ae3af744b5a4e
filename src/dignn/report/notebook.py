"""How explanations show themselves in Jupyter: still HTML, without script and without a style sheet.

Every style is an attribute, so that nothing leaks into the notebook, and cards are white with dark text, so that they
are read in light and dark themes alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from markupsafe import Markup

from dignn.evidence.grammar import percent
from dignn.explanation import Explanation, Explanations
from dignn.report.characters import clean
from dignn.report.charts.parts import number
from dignn.report.legend import entries
from dignn.report.svg import CARD, INK, draw_parts, node_title, svg
from dignn.report.words import features_of

# Columns of the classified node that are shown.
FEATURES = 12
# Classes that are shown: a notebook keeps every card.
CLASSES = 24
SOFT = "#566072"
_BOX = (
    f"box-sizing:border-box;background:#ffffff;color:{INK};color-scheme:light;border:1px solid #d5dbe5;"
    "border-radius:8px;padding:12px 14px;font:14px/1.45 system-ui,-apple-system,'Segoe UI',sans-serif;text-align:left;"
    "overflow-wrap:anywhere;min-width:0"
)
_SMALL = f"color:{SOFT};font-size:12.5px"
_CHIP = "display:inline-block;background:#e8eef7;border-radius:4px;padding:0 6px;margin:2px 3px 2px 0;font-size:12.5px"
_CODE = "font-family:ui-monospace,SFMono-Regular,Menlo,monospace;background:#f0f2f6;padding:0 4px;border-radius:3px"


def explanation_html(explanation: Explanation) -> str:
    """One explanation: its drawing beside the nearest real example, its text, the classified node's features."""
    real = _example(explanation)
    parts = [
        _head(explanation),
        Markup('<div style="display:flex;flex-wrap:wrap;gap:16px">{}{}</div>').format(
            _drawing(svg(explanation), "The explanation" if real else ""), real
        ),
        _legend([explanation]),
        _text(explanation),
        _features(explanation),
    ]
    return clean(Markup('<div style="max-width:760px;{}">{}</div>').format(_BOX, _join(parts)))


def explanations_html(explanations: Explanations) -> str:
    """A card per class with its best explanation, of the first classes, and how to get at the others."""
    shown, hidden = list(explanations.items())[:CLASSES], list(explanations)[CLASSES:]
    best = [several[0] for _, several in shown if several]
    parts = [
        _legend(best) if best else "",
        Markup(
            '<div style="display:grid;grid-template-columns:repeat(auto-fill,minmax(215px,1fr));gap:12px">{}</div>'
        ).format(_join(_card(name, several) for name, several in shown)),
        Markup('<div style="{};margin-top:10px">and {:,} more: {}{}</div>').format(
            _SMALL, len(hidden), _code(f"explanations[{hidden[0]!r}]"), " …" if len(hidden) > 1 else ""
        )
        if hidden
        else "",
        Markup(
            '<div style="{};margin-top:10px">{} draws them with their features, {} writes the whole report.</div>'
        ).format(_SMALL, _code(".plot()"), _code('.report("report.html")'))
        if best
        else "",
    ]
    return clean(Markup('<div style="{}">{}</div>').format(_BOX, _join(parts)))


def _card(name: str, several: list[Explanation]) -> Markup:
    outside = "border:1px solid #e3e8ef;border-radius:6px;padding:8px 10px;min-width:0;overflow-wrap:anywhere"
    if not several:
        return Markup('<div style="{}"><b>{}</b><div style="{}">{}</div></div>').format(
            outside, name, _SMALL, "No candidate speaks for this class, so it has no explanation."
        )
    more = len(several) - 1
    others = Markup('<div style="{};margin-top:6px">{}</div>').format(
        _SMALL, Markup("{} more: {}").format(more, _code(f"explanations[{name!r}][1]{' …' if more > 1 else ''}"))
    )
    parts = [_head(several[0]), _drawing(svg(several[0])), _text(several[0]), others if more else ""]
    return Markup('<div style="{}">{}</div>').format(outside, _join(parts))


def _head(explanation: Explanation) -> Markup:
    return Markup(
        '<div style="font-size:15px"><b>{}</b> <span style="white-space:nowrap">{}</span>'
        '<div style="{}">{} nodes: {}</div></div>'
    ).format(
        explanation.class_name,
        percent(explanation.score),
        _SMALL,
        int(explanation.graph.sizes[0]),
        explanation.composition(),
    )


def _drawing(drawing: Markup, caption: str = "") -> Markup:
    below = Markup('<div style="{};text-align:center">{}</div>').format(_SMALL, caption) if caption else ""
    return Markup('<div style="flex:1 1 260px;max-width:340px;min-width:0">{}{}</div>').format(drawing, below)


def _example(explanation: Explanation) -> Markup:
    """The nearest real example, drawn; nothing where there is none."""
    if explanation.example is None or explanation.evidence is None:
        return Markup("")
    nearest = explanation.evidence.nearest
    shown = replace(explanation, graph=explanation.example, node=nearest.node, evidence=None)
    titles = [node_title(shown, node) for node in range(int(shown.graph.sizes[0]))]
    classes = explanation.graph.schema.classes
    what = str(explanation.graph.schema.target) if nearest.node is not None else "graph"
    label = "" if nearest.label is None else f", labelled “{classes[nearest.label]}”"
    caption = f"The nearest real {what}{label}; the model says “{classes[nearest.predicted]}”"
    drawing = Markup('<svg viewBox="0 0 {} {}" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{}">{}</svg>')
    parts = draw_parts(shown.graph, CARD, nearest.node, None, titles)
    return _drawing(drawing.format(CARD.width, CARD.height, caption, parts), caption)


def _legend(explanations: list[Explanation]) -> Markup:
    """What is drawn."""
    found = entries([item.graph for item in explanations], any(item.node is not None for item in explanations))
    entry = Markup(
        '<span style="display:inline-block;margin-right:14px">'
        '<svg width="20" height="20" viewBox="0 0 24 24" style="vertical-align:-5px">{}</svg> {}</span>'
    )
    return Markup('<div style="{};margin:4px 0 8px">{}</div>').format(
        _SMALL, _join(entry.format(mark, name) for mark, name in found)
    )


def _text(explanation: Explanation) -> Markup:
    if explanation.evidence is None:
        return Markup("")
    return Markup('<div style="margin:6px 0">{}</div>').format(explanation.evidence.text)


def _features(explanation: Explanation) -> Markup:
    """The classified node's columns, what the model would miss first and bold."""
    if explanation.node is None:
        return Markup("")
    evidence = explanation.evidence
    missed = [] if evidence is None else [column.column for column in evidence.own_columns if column.drop > 0]
    features, further = features_of(explanation.graph, explanation.node, missed, FEATURES)
    if not features:
        return Markup("")
    chips = [
        Markup('<span style="{}">{}{}</span>').format(
            _CHIP,
            Markup("<b>{}</b>").format(feature.name) if feature.missed else feature.name,
            "" if feature.value == 1 else f" {number(feature.value)}",
        )
        for feature in features
    ]
    bold = any(feature.missed for feature in features)
    told = "Features of the classified node" + (", bold what the model would miss" if bold else "") + ":"
    more = Markup('<span style="{}">and {:,} more</span>').format(_SMALL, further) if further else ""
    return Markup('<div style="{}">{}</div><div>{}{}</div>').format(_SMALL, told, _join(chips), more)


def _code(text: str) -> Markup:
    return Markup('<code style="{}">{}</code>').format(_CODE + f";color:{INK}", text)


def _join(parts: Iterable[Markup | str]) -> Markup:
    return Markup("").join(parts)
