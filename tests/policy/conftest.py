"""The local policy is tested on the small tasks and models of the learning room."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "learn"))
