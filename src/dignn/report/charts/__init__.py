"""Charts of the report as SVG: pure functions of numbers and names, without scripts, identifiers or outside parts.

Every chart is 360 units wide, drawn at that size at most and smaller where there is less room, and says in its
``aria-label`` what a sighted reader sees. Colours come from ``templates/charts.css``.
"""
