"""The rules of the house. CONTRIBUTING.md says why; what is exempt is listed by name, and the lists may only shrink."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
from pydantic import BaseModel

import pages
from swefuse import errors
from swefuse.cli.main import app

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "swefuse"
LINES_OF_FUNCTION, LINES_OF_FILE, PARAMETERS, CHAIN, FIELDS = 60, 400, 7, 2, 25
ROOMS = (
    "cli", "recipes", "web", "evaluate", "learn", "library", "collect", "policy", "tasks", "verify", "code", "sandbox", "scale",
    "workspace", "config", "records", "errors",
)  # fmt: skip
HEAVY = {"torch", "numpy", "transformers", "trl", "accelerate", "tokenizers", "pandas", "datasets", "ray"}
WITH_TORCH = ("swefuse.learn", "swefuse.policy.local")
TORCH_ABOVE = (
    "swefuse.learn",
    "swefuse.policy.attention",
    "swefuse.policy.local",
    "swefuse.policy.masks",
    "swefuse.policy.sampler",
    "swefuse.policy.trie",
    "swefuse.recipes",
    "swefuse.evaluate.run",
)
PURE = ("learn/losses.py", "learn/entropy.py", "learn/pairs.py")

# what breaks a limit today: "rule path:name"
EXEMPT: frozenset[str] = frozenset()


@cache
def sources() -> dict[str, ast.Module]:
    """Path below the package -> tree. The corpus is data."""
    files = [path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "tasks" / "corpus" not in path.parents]
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def modules() -> list[str]:
    names = ["swefuse." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in sources()]
    return [name for name in names if not name.endswith("__init__")]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    spec = function.args
    listed = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *(arg for arg in (spec.vararg, spec.kwarg) if arg)]
    return [arg for arg in listed if arg.arg not in ("self", "cls")]


def breaches(path: str, tree: ast.Module) -> Iterator[str]:
    if len((PACKAGE / path).read_text(encoding="utf-8").splitlines()) > LINES_OF_FILE:
        yield f"lines {path}"
    for function in functions(tree):
        if (function.end_lineno or 0) - function.lineno + 1 > LINES_OF_FUNCTION:
            yield f"length {path}:{function.name}"
        # the options of a command are its parameters
        if len(parameters(function)) > PARAMETERS and not (path.startswith("cli/") and function.name in command_names()):
            yield f"parameters {path}:{function.name}"
        if any(arg.annotation is None for arg in parameters(function)):
            yield f"annotation {path}:{function.name}"


def test_functions_files_and_parameter_lists_are_short() -> None:
    found = {breach for path, tree in sources().items() for breach in breaches(path, tree)}
    assert found - EXEMPT == set(), "too long, or not annotated"
    assert EXEMPT - found == set(), "no longer needed: take it off the list"


def test_class_chains_are_short() -> None:
    parents: dict[str, list[str]] = {}
    for tree in sources().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                parents[node.name] = [ast.unparse(base).rpartition(".")[2] for base in node.bases]

    def chain(name: str) -> int:
        return 1 + max((chain(base) for base in parents[name] if base in parents), default=0)

    tree_of_errors = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert {name for name in parents if chain(name) > CHAIN} - tree_of_errors == set()


def imports(path: str, tree: ast.Module) -> Iterator[str]:
    """Absolute names of the modules that a file imports, wherever in the file it does."""
    package = ["swefuse", *Path(path).parent.parts]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
            full = base if node.level else str(node.module)
            yield from (
                [f"{full}.{alias.name}" for alias in node.names]
                if full in ("swefuse", *map("swefuse.{}".format, ROOMS))
                else [full]
            )


def test_imports_go_only_downwards() -> None:
    upwards = []
    for path, tree in sources().items():
        room = path.partition("/")[0].removesuffix(".py")
        if room != "__init__":
            reached = {name.split(".")[1] for name in imports(path, tree) if name.startswith("swefuse.")} & set(ROOMS)
            upwards += [f"{path} imports {other}" for other in reached if ROOMS.index(other) < ROOMS.index(room)]
    assert upwards == []


def test_torch_stays_in_its_rooms() -> None:
    allowed = ("learn/", "policy/attention", "policy/local", "policy/masks", "policy/sampler", "policy/trie")
    found = [path for path, tree in sources().items() if any(name.partition(".")[0] == "torch" for name in imports(path, tree))]
    assert [path for path in found if not path.startswith(allowed)] == []


def test_the_maths_does_no_input_or_output() -> None:
    for path in PURE:
        reached = set(imports(path, sources()[path]))
        assert reached & {"os", "io", "json", "pathlib", "swefuse.config"} == set(), path


_PROBE = """
import json, logging, os, signal, sys, threading
sys.dont_write_bytecode = True
before = dict(os.environ), signal.getsignal(signal.SIGINT), sorted(os.listdir("."))
for name in sys.argv[1:]:
    __import__(name)
after = dict(os.environ), signal.getsignal(signal.SIGINT), sorted(os.listdir("."))
effects = {
    "environment, signal or files": before != after,
    "logging": bool(logging.root.handlers),
    "threads": threading.active_count() > 1,
}
seen = [name for name, changed in effects.items() if changed]
json.dump({"heavy": sorted(set(sys.modules) & set(HEAVY)), "effects": seen}, sys.stderr)
"""


def test_importing_the_core_is_light_and_does_nothing_else(tmp_path: Path) -> None:
    core = [name for name in modules() if not name.startswith(TORCH_ABOVE)]
    code = _PROBE.replace("HEAVY", repr(sorted(HEAVY)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *core], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert json.loads(done.stderr) == {"heavy": [], "effects": []}


def test_help_is_quick() -> None:
    # 0.1 to 0.2 s of CPU when alone; the bound leaves room for slow machines, none for a heavy import
    code = "import sys, time; from swefuse.cli.main import main; main(['--help']); print(time.process_time())"
    spent = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()[-1])
        for _ in range(3)
    ]
    assert min(spent) < 0.6


def test_no_file_holds_a_stub() -> None:
    words = ("NotImplemented" + "Error", "TO" + "DO", "FIX" + "ME")
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *documents(), ROOT / "Makefile", ROOT / ".ci" / "run"]
    assert [(path.name, word) for path in files for word in words if word in path.read_text(encoding="utf-8")] == []


def patches(tree: ast.Module) -> Iterator[str]:
    """What a test does that makes it lie or wait. Environment variables are the one thing that may be patched."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "monkeypatch" and node.attr not in ("setenv", "delenv"):
                yield f"monkeypatch.{node.attr}"
            if (node.value.id, node.attr) == ("time", "sleep"):
                yield "time.sleep"
        if isinstance(node, ast.ImportFrom | ast.Import) and "mock" in ast.unparse(node):
            yield ast.unparse(node)


def test_tests_neither_mock_nor_sleep() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert [(path.name, found) for path in files for found in patches(ast.parse(path.read_text(encoding="utf-8")))] == []


def drawn_errors() -> dict[str, tuple[str, ...]]:
    """Class -> bases as the docstring of ``errors`` draws them."""
    drawn: dict[str, tuple[str, ...]] = {}
    path: list[str] = []
    for lead, name, others in re.findall(r"^    ([│├└─ ]*)(\w+)(?:\((\w+)\))?", errors.__doc__ or "", re.M):
        depth = len(lead) // 4
        path = [*path[:depth], name]
        drawn[name] = tuple(base for base in (path[depth - 1] if depth else "Exception", others) if base)
    return drawn


def test_the_exception_tree_is_as_drawn_and_travels() -> None:
    classes = {name: value for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert {name: tuple(base.__name__ for base in value.__bases__) for name, value in classes.items()} == drawn_errors()
    for value in classes.values():
        copy = pickle.loads(pickle.dumps(value("what, where, remedy")))
        assert type(copy) is value and str(copy) == "what, where, remedy"


def test_no_other_file_makes_exceptions() -> None:
    own = [
        path for path, tree in sources().items() for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and is_exception(node)
    ]
    # values.py works inside the sandbox, where nothing else of the package can be imported
    assert set(own) == {"errors.py", "sandbox/values.py"}


def is_exception(node: ast.ClassDef) -> bool:
    return any(re.search(r"(Error|Exception)$", ast.unparse(base)) for base in node.bases)


@pytest.mark.parametrize("command", list(pages.COMMANDS))
def test_configs_are_small_strict_and_explained(command: str) -> None:
    pending: list[type[BaseModel]] = [pages.config_of(command)]
    while pending:
        model = pending.pop()
        # a section is another stage's config, and counted by itself
        assert len(model.model_fields) <= FIELDS, model
        assert model.model_config.get("frozen") and model.model_config.get("extra") == "forbid", model
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name}"
            if inspect.isclass(field.annotation) and issubclass(field.annotation, BaseModel):
                pending.append(field.annotation)


def test_every_config_of_the_command_line_is_listed() -> None:
    used = {
        f"{node.module}:{alias.name}"
        for path, tree in sources().items()
        for node in ast.walk(tree)
        if path.startswith("cli/") and isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.endswith(("Config", "Settings"))
    }
    assert used == set(pages.COMMANDS.values())


def test_the_list_of_settings_is_frozen() -> None:
    hint = "a setting came, went or changed; if that is meant: make docs"
    assert pages.GOLDEN.read_text(encoding="utf-8") == pages.golden(), hint
    assert pages.PAGE.read_text(encoding="utf-8") == pages.page(), hint
    assert pages.TROUBLE.read_text(encoding="utf-8") == pages.monitor.page(), hint


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def command_lines() -> list[str]:
    """Commands in the code blocks of the documents and in the examples of the help texts."""
    lines = [
        line
        for path in documents()
        for block in re.findall(r"```\w*\n(.*?)```", path.read_text(encoding="utf-8"), re.S)
        for line in block.splitlines()
    ]
    lines += [line for command in commands() for line in (command.epilog or "").splitlines()]
    stripped = [line.strip().removeprefix("$ ") for line in lines]
    return sorted({line.partition(" #")[0] for line in stripped if line.startswith(("make ", "swefuse "))})


def commands(group: Any = None) -> Iterator[Any]:
    group = group or typer.main.get_command(app)
    yield group
    for command in getattr(group, "commands", {}).values():
        yield from commands(command)


@cache
def command_names() -> frozenset[str]:
    return frozenset(command.callback.__name__ for command in commands() if command.callback)


def test_documents_name_commands() -> None:
    assert {"make quickstart", "make test", "swefuse doctor"} <= set(command_lines())


@pytest.mark.parametrize("line", command_lines())
def test_documented_commands_exist(line: str) -> None:
    program, *words = shlex.split(line)
    if program == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        assert [word for word in words if "=" not in word and word not in targets] == []
        return
    command, name = typer.main.get_command(app), []
    while words and words[0] in getattr(command, "commands", {}):
        name.append(words[0])
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in [*parameter.opts, *parameter.secondary_opts]} | {"--help"}
    assert {word for word in words if re.match(r"--?[a-z]", word)} <= known
    given = [words[at + 1].partition("=")[0] for at, word in enumerate(words) if word == "--set"]
    if given:
        assert set(given) <= {item.name for item in pages.fields(pages.config_of(" ".join(name)))}


def test_the_design_page_shows_the_files_as_they_are() -> None:
    page = pages.DESIGN.read_text(encoding="utf-8")
    assert "```tree\n" in page and pages.design() == page, "a file came, went or says something else of itself: make docs"


def test_no_two_test_files_have_one_name() -> None:
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == [], "pytest cannot collect both in one run"
