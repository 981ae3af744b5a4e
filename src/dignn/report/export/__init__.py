"""Explanations as files for other programs: GraphML, GEXF, JSON, PNG and SVG.

``formats.FORMATS`` has a writer for each; ``portable`` makes the graph with plain attributes that two of them take.
"""
