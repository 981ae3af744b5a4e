"""Settings and their presets are read before anything heavy is loaded: help pages and mistakes must come at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = (
    "dignn.diffusion.settings",
    "dignn.structure.settings",
    "dignn.features.settings",
    "dignn.explainers.settings",
    "dignn.explainers.methods.dignnexplainer.settings",
)


@pytest.mark.parametrize("module", MODULES)
def test_settings_load_without_torch(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
