"""What is written from the code: the list of settings, their table, the file tree of docs/design.md, and troubleshooting.

``make docs`` writes them anew after a deliberate change; ``test_house.py`` compares.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

from pydantic import BaseModel

from swefuse.config import fields
from swefuse.learn import monitor

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "knobs.txt"
PAGE = ROOT / "docs" / "settings.md"
DESIGN = ROOT / "docs" / "design.md"
TROUBLE = ROOT / "docs" / "troubleshooting.md"
PACKAGE = ROOT / "src" / "swefuse"
COMMANDS = {
    "quickstart": "swefuse.recipes.config:QuickstartConfig",
    "tasks build": "swefuse.tasks.build:TasksConfig",
    "collect": "swefuse.collect.gather:GatherConfig",
    "collect --endpoint": "swefuse.policy.endpoint:EndpointSettings",
    "collect replay": "swefuse.collect.stage:CollectConfig",
    "library gate": "swefuse.library.settings:GateConfig",
    "library add": "swefuse.library.settings:GateConfig",
    "train sft": "swefuse.learn.sft:SftSettings",
    "train rlvr": "swefuse.learn.settings:RlvrSettings",
    "train nano": "swefuse.recipes.nano:NanoConfig",
    "train plan": "swefuse.learn.plan:PlanSettings",
    "eval": "swefuse.evaluate.run:EvalConfig",
    "bench entropy": "swefuse.recipes.entropy:EntropyConfig",
}
_DATA = {
    "corpus": "small functions by topic: data, read as text",
    "templates": "the catalogue: one file for each template",
}
_HEAD = """# Settings

Every command that takes `--config FILE` and `--set KEY=VALUE` takes exactly the keys below. A key that is unknown, given twice or
without effect, and a value of the wrong type or range, is an error. `config.toml` in a run's folder holds what was resolved.
This page is made by `make docs`.
"""


def config_of(command: str) -> type[BaseModel]:
    module, _, name = COMMANDS[command].partition(":")
    model = getattr(importlib.import_module(module), name)
    assert issubclass(model, BaseModel)
    return model


def golden() -> str:
    lines = [
        f"{command}: {item.name}: {item.type} = {item.default or 'required'}"
        for command in COMMANDS
        for item in fields(config_of(command))
    ]
    return "\n".join(lines) + "\n"


def page() -> str:
    parts = [_HEAD]
    for command in COMMANDS:
        parts.append(f"## swefuse {command}\n\n| key | type | default | meaning |\n|---|---|---|---|")
        for row in fields(config_of(command)):
            cells = (f"`{row.name}`", row.type, f"`{row.default}`" if row.default else "must be given", row.description)
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts.append("")
    return "\n".join(parts)


def tree(folder: Path = PACKAGE, indent: str = "") -> str:
    """One line per file, with the first sentence of its docstring; folders after files. Folders of data are one line each."""
    lines = []
    for path in sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name)):
        if path.is_dir() and any(path.rglob("*.py")):
            if path.name in _DATA:
                lines.append(f"{indent + path.name + '/':24}{_DATA[path.name]}")
            elif any(file.stat().st_size for file in path.rglob("*.py")):
                lines.append(f"{indent}{path.name}/\n{tree(path, indent + '  ')}".rstrip("\n"))
        elif path.suffix == ".py" and path.stat().st_size:
            first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
            lines.append(f"{indent + path.name:24}{first.partition('. ')[0].removesuffix('.')}")
    return "\n".join(lines) + "\n"


def design() -> str:
    """The design page with its tree replaced by the present one."""
    return re.sub(r"```tree\n.*?```", lambda _: f"```tree\n{tree()}```", DESIGN.read_text(encoding="utf-8"), flags=re.S)


if __name__ == "__main__":
    GOLDEN.write_text(golden(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    DESIGN.write_text(design(), encoding="utf-8")
    TROUBLE.write_text(monitor.page(), encoding="utf-8")
