"""Step 4: per class the candidates, and their target nodes, that speak for it best.

:func:`select_highest` is the paper's rule; :func:`select_representative`, the default, keeps to graphs that the model
scores nearly as high and that are like real members of the class.
"""

from dignn.selection.highest import Choice, select_highest
from dignn.selection.representative import Representative, select_representative

__all__ = ["Choice", "Representative", "select_highest", "select_representative"]
