"""May a task's source be used? Its licence against the lists of the settings, as SPDX expressions."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from swefuse.library.context import USUAL, Context
from swefuse.records import Task, Trajectory, Verdict

# names that packages give, by what their letters and digits are; None has several meanings
_NAMES = {
    "mitlicense": "MIT", "themitlicense": "MIT", "mitlicensemit": "MIT", "expat": "MIT",
    "apache": "Apache-2.0", "apache2": "Apache-2.0", "apache20": "Apache-2.0", "apachelicense20": "Apache-2.0",
    "apachelicense": "Apache-2.0", "apachelicenseversion20": "Apache-2.0", "apachesoftwarelicense": "Apache-2.0",
    "apache2license": "Apache-2.0", "asl2": "Apache-2.0",
    "bsd": "BSD-3-Clause", "bsdlicense": "BSD-3-Clause", "bsd3": "BSD-3-Clause", "newbsd": "BSD-3-Clause", "bsd2": "BSD-2-Clause",
    "simplifiedbsd": "BSD-2-Clause", "bsd2clauselicense": "BSD-2-Clause", "bsd3clauselicense": "BSD-3-Clause",
    "isclicense": "ISC", "psf": "PSF-2.0", "psfl": "PSF-2.0", "pythonsoftwarefoundationlicense": "PSF-2.0",
    "mpl20": "MPL-2.0", "mpl2": "MPL-2.0", "mozillapubliclicense20": "MPL-2.0", "mozillapubliclicense20mpl20": "MPL-2.0",
    "gpl": "GPL-3.0-or-later", "gplv2": "GPL-2.0-only", "gplv3": "GPL-3.0-only", "gpl2": "GPL-2.0-only", "gpl3": "GPL-3.0-only",
    "gnugpl": "GPL-3.0-or-later", "gnugplv3": "GPL-3.0-only", "gnugeneralpubliclicensev3": "GPL-3.0-only",
    "gnugeneralpubliclicensev2": "GPL-2.0-only", "lgpl": "LGPL-3.0-or-later", "lgplv3": "LGPL-3.0-only", "lgplv21": "LGPL-2.1-only",
    "agpl": "AGPL-3.0-or-later", "agplv3": "AGPL-3.0-only", "publicdomain": "Unlicense", "unlicence": "Unlicense",
}  # fmt: skip
_TOKEN = re.compile(r"\(|\)|[^\s()]+")


def licence(task: Task, trajectory: Trajectory, verdict: Verdict, context: Context = USUAL) -> str | None:
    """The licence of the task's source is allowed and not denied. Of ``A OR B`` one has to be, of ``A AND B`` both.

    One that nobody stated, or that is no SPDX name and no known other name, is reported and let through where the settings say so.

    Example: ``GPL-3.0-only`` under the default settings -> ``GPL-3.0-only is not among the licences allowed``.
    """
    stated = task.provenance.licence.strip()
    found = spdx(stated)
    if found is None:
        if context.settings.unknown_licence:
            return None
        return f"{stated!r} is no known licence" if stated else "no licence is stated"
    allowed, denied = names(context.settings.licences), names(context.settings.denied)
    if _holds(found, frozenset(allowed) - denied):
        return None
    return f"{found} is {'denied' if _holds(found, allowed) else 'not among the licences allowed'}"


@lru_cache(maxsize=1024)
def spdx(stated: str) -> str | None:
    """An SPDX expression for what is stated, None where there is none. Example: ``MIT License`` -> ``MIT``."""
    if not stated:
        return None
    try:
        return str(canonicalize_license_expression(stated))
    except InvalidLicenseExpression:
        return _NAMES.get(re.sub(r"[^a-z0-9]", "", stated.lower()))


@lru_cache(maxsize=64)
def names(listed: tuple[str, ...]) -> frozenset[str]:
    """A list of the settings in SPDX's own spelling; names that SPDX does not have stay as they are."""
    return frozenset(spdx(name) or name for name in listed)


def _holds(expression: str, allowed: Set[str]) -> bool:
    """Whether a canonical expression can be met with these licences. ``WITH`` gives more freedom, so that it is not asked about."""
    tokens = _TOKEN.findall(expression)

    def alternatives(at: int) -> tuple[bool, int]:
        value, at = together(at)
        while at < len(tokens) and tokens[at] == "OR":
            other, at = together(at + 1)
            value = value or other
        return value, at

    def together(at: int) -> tuple[bool, int]:
        value, at = one(at)
        while at < len(tokens) and tokens[at] == "AND":
            other, at = one(at + 1)
            value = value and other
        return value, at

    def one(at: int) -> tuple[bool, int]:
        if tokens[at] == "(":
            value, at = alternatives(at + 1)
            return value, at + 1
        value, at = tokens[at] in allowed, at + 1
        return value, at + 2 if at < len(tokens) and tokens[at] == "WITH" else at

    return alternatives(0)[0]
