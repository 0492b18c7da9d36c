"""Close a security hole: what the code is for still works, and the analyser's rule for this kind of hole no longer fires.

>>> task = Task.make(
...     Kind.VULNFIX, instruction="`load` runs whatever text it is given. Make it safe.",
...     files={"m.py": "def load(text):\\n    return eval(text)\\n"}, editable=("m.py",), goal={"rules": "S307"},
...     suites=(suite("m.py:load", "('[1]',)", "[1]", fails=False),),
...     provenance=Provenance(source="example"),
... )
>>> judge(task, {}).reason
'S307 still fires in m.py'
>>> judge(task, {"m.py": "import ast\\n\\n\\ndef load(text):\\n    return ast.literal_eval(text)\\n"}).outcome.value
'PASSED'
>>> judge(task, {"m.py": "def load(text):\\n    return []  # noqa\\n"}).outcome.value
'FAILED'
"""

from __future__ import annotations

from functools import lru_cache

from swefuse.code.lint import lint
from swefuse.errors import InfraError, SandboxError
from swefuse.records import Kind
from swefuse.verify.kinds.base import Found, Rules, Trial
from swefuse.verify.screen import protected_paths


def check(trial: Trial) -> Found:
    """Whether a rule of the goal fires in what the candidate wrote or may edit; ``# noqa`` is not obeyed."""
    rules = trial.goal("rules").split(",")
    paths = sorted({*trial.changed, *trial.task.editable} - set(protected_paths(trial.task)))
    for path in paths:
        if path.endswith(".py") and path in trial.files:
            codes = _codes(path, trial.files[path])
            fires = [rule for rule in rules if rule in codes]
            if fires:
                return Found(f"{', '.join(fires)} still fires in {path}", share=0.0)
    return Found()


@lru_cache(maxsize=4096)
def _codes(path: str, text: str) -> frozenset[str]:
    try:
        (findings,) = lint([(path, text)])
    except InfraError as error:
        raise SandboxError(str(error)) from error
    return frozenset(name.partition(" ")[0] for name in findings)


RULES = Rules(
    kind=Kind.VULNFIX,
    edits="the source of the project",
    protected="test files and what configures their runner",
    verified="every test passes, and ruff's security rules named in the goal fire nowhere in the editable or changed files",
    scored="share of tests that pass; 0 while the rule fires",
    goal={"rules": "codes of ruff's S rules, separated by commas, that must no longer fire"},
    check=check,
)
