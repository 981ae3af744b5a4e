"""``python -m dignn`` is the command ``dignn``."""

import sys

from dignn.cli.main import main

sys.exit(main())
