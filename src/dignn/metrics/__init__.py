"""Step 5: realism and faithfulness. The paper layer follows the paper's formulas, the sound layer mends them."""

from dignn.metrics.cosine import mean_cosine
from dignn.metrics.mmd import METRICS, mmd
from dignn.metrics.table import measure

__all__ = ["METRICS", "mean_cosine", "measure", "mmd"]
