"""Explanations as files for other programs: GraphML, GEXF, JSON, PNG and SVG.

:func:`export` writes one explanation, :func:`export_all` all of a run. :func:`portable_graph` is what GraphML and GEXF
hold, as a networkx graph whose attributes are plain values.
"""

from dignn.export.formats import FORMATS, export, export_all
from dignn.export.portable import portable_graph

__all__ = ["FORMATS", "export", "export_all", "portable_graph"]
