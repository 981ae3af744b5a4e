"""Step 5: realism and faithfulness. The paper layer follows the paper's formulas, the sound layer mends them."""

from dignn.metrics.cosine import mean_cosine
from dignn.metrics.features import FeatureRealism, feature_realism
from dignn.metrics.mmd import METRICS, mmd
from dignn.metrics.table import measure

__all__ = ["METRICS", "FeatureRealism", "feature_realism", "mean_cosine", "measure", "mmd"]
