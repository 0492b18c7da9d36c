"""Tasks of other projects, in and out: a format's rows are read strictly, kept exactly, and proven before they count as tasks."""

from __future__ import annotations

from swefuse.tasks.formats.r2e import R2E
from swefuse.tasks.formats.rebench import SWEREBENCH
from swefuse.tasks.formats.rows import Layout
from swefuse.tasks.formats.swebench import SWEBENCH, SWEGYM
from swefuse.tasks.formats.swesmith import SWESMITH

HARBOR = "harbor"
LAYOUTS: dict[str, Layout] = {layout.name: layout for layout in (SWEBENCH, SWESMITH, SWEGYM, SWEREBENCH, R2E)}
FORMATS = (*LAYOUTS, HARBOR)
