"""How explanations show themselves in Jupyter: still HTML, without script and without a style sheet.

Every style is an attribute, so that nothing leaks into the notebook, and cards are white with dark text, so that they
are read in light and dark themes alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from markupsafe import Markup

from dignn import readable
from dignn.evidence.grammar import percent
from dignn.explanation import Explanation, Explanations
from dignn.report.characters import clean
from dignn.report.looks import looks
from dignn.report.svg import CARD, INK, dashes, draw_parts, node_title, shape_svg, svg

# Columns of the classified node that are shown.
FEATURES = 12
SOFT = "#566072"
_BOX = (
    f"box-sizing:border-box;background:#ffffff;color:{INK};color-scheme:light;border:1px solid #d5dbe5;"
    "border-radius:8px;padding:12px 14px;font:14px/1.45 system-ui,-apple-system,'Segoe UI',sans-serif;text-align:left"
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
    """A card per class with its best explanation, and how to get at the others."""
    best = [several[0] for several in explanations.values() if several]
    cards = [_card(name, several) for name, several in explanations.items()]
    parts = [
        _legend(best) if best else "",
        Markup(
            '<div style="display:grid;grid-template-columns:repeat(auto-fill,minmax(215px,1fr));gap:12px">{}</div>'
        ).format(_join(cards)),
        Markup(
            '<div style="{};margin-top:10px">{} draws them with their features, {} writes the whole report.</div>'
        ).format(_SMALL, _code(".plot()"), _code('.report("report.html")'))
        if best
        else "",
    ]
    return clean(Markup('<div style="{}">{}</div>').format(_BOX, _join(parts)))


def _card(name: str, several: list[Explanation]) -> Markup:
    outside = "border:1px solid #e3e8ef;border-radius:6px;padding:8px 10px"
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
    """Types that are drawn, and relations where their lines differ."""
    schema = explanations[0].graph.schema
    drawn = {readable.type_name(item.graph, v) for item in explanations for v in range(int(item.graph.sizes[0]))}
    used = {relation.name for item in explanations for _, _, relation in item.edges()}
    mark = Markup('<svg width="20" height="20" viewBox="0 0 24 24" style="vertical-align:-5px">{}</svg> {}')
    line = Markup('<line x1="0" y1="12" x2="24" y2="12" stroke="{}" stroke-width="2" stroke-dasharray="{}"/>')
    found = [mark.format(shape_svg(look, 12, 12), name) for name, look in looks(schema).items() if name in drawn]
    found += [
        mark.format(line.format(INK, dash or "none"), name) for name, dash in dashes(schema).items() if name in used
    ]
    if any(item.node is not None for item in explanations):
        ring = Markup('<circle cx="12" cy="12" r="9" fill="none" stroke="{}" stroke-width="2.2"/>').format(INK)
        found.append(mark.format(ring, "the classified node"))
    entry = Markup('<span style="display:inline-block;margin-right:14px">{}</span>')
    return Markup('<div style="{};margin:4px 0 8px">{}</div>').format(
        _SMALL, _join(entry.format(item) for item in found)
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
    missed = [] if evidence is None else [column.name for column in evidence.own_columns if column.drop > 0]
    columns = explanation.top_features(explanation.node, 64)
    ranked = sorted(columns, key=lambda pair: missed.index(pair[0]) if pair[0] in missed else len(missed))
    if not ranked:
        return Markup("")
    chips = [
        Markup('<span style="{}">{}{}</span>').format(
            _CHIP, Markup("<b>{}</b>").format(name) if name in missed else name, "" if value == 1 else f" {value:.3g}"
        )
        for name, value in ranked[:FEATURES]
    ]
    told = "Features of the classified node" + (", bold what the model would miss" if missed else "") + ":"
    return Markup('<div style="{}">{}</div><div>{}</div>').format(_SMALL, told, _join(chips))


def _code(text: str) -> Markup:
    return Markup('<code style="{}">{}</code>').format(_CODE + f";color:{INK}", text)


def _join(parts: Iterable[Markup | str]) -> Markup:
    return Markup("").join(parts)
