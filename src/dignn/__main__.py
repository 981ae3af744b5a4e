"""``python -m dignn`` is the command ``dignn``."""

import sys

from dignn.cli import main

sys.exit(main())
