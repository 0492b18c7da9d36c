"""Which options or exit code a command line ends up with, given defaults, a file, the environment and arguments."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, integers, name, one_of, rows, words

HEAD = "from collections import ChainMap\n\n"
LAYERS = """
def $merge(argv, $env):
    $found_0 = dict(DEFAULTS)
    for layer in ($order):
        for key, value in layer.items():
            if key in $found_0 and value$given:
                $found_0[key] = $convert(key, value)
    return $found_0
"""
CHAIN = """
def $merge(argv, $env):
    layers = [{key: $convert(key, value) for key, value in layer.items()} for layer in ($order)]
    $found_0 = ChainMap(*layers, DEFAULTS)
    return {key: $found_0[key] for key in DEFAULTS if $found_0[key]$given}
"""
CODES = """
def $main(argv, $env):
    try:
        return $merge(argv, $env)
    except SystemExit as stop:
        return {"exit": stop.code, "given": len(argv)}
    except ValueError as error:
        return str(error)
"""
CHECKED = """
def $main(argv, $env):
    options = $merge(argv, $env)
    options["$number_0"] = min(max(int(options.get("$number_0", 0)), $low), $high)
    return sorted(options.items(), key=lambda pair: str(pair[1])), len(argv)
"""
LISTED = """
def $main(argv, $env):
    options = $merge(argv, $env)
    shown = [key for key, value in options.items() if value != DEFAULTS[key]]
    return {key: options[key] for key in reversed(shown)}, int(not shown)
"""


def _sources(values: Values) -> Values:
    """What stands in the file and in the environment, what is typed, and the order in which these count."""
    rng = random.Random(values["seed"])
    number, flag, text, prefix = (str(values[key]) for key in ("number_0", "flag_0", "text_0", "prefix"))
    other, letter = [values[f"others_{at}"] for at in range(4)], text[0].upper()
    some = [str(rng.randint(2, 99)) for _ in range(6)]
    typed = [f"--{number} {some[0]}", f"--{number[:-1]}={some[1]}", f"--{flag}", f"--no-{flag}", f"-{letter} {rng.choice(other)}"]
    typed = rng.sample([*typed, f"-{letter}{rng.choice(other)}", f"--{text}="], rng.randint(1, 3))
    lines = [f"{number} = {some[2]}", f"{text} = {rng.choice(other)}", f"{flag} = {rng.choice(['on', 'off'])}", f"# {number}=1"]
    lines = rng.sample([*lines, f"{flag.title()} = yes", f"{text}={rng.choice(other)}  # new"], rng.randint(2, 4))
    if "SystemExit" in values["end_code"]:
        typed += rng.choice([[], [], [f"--{number}"], [f"--{number} many"], ["--help"]])
        lines += rng.choice([[], [f"{number} = {other[1]}"]])
    around = [(f"{prefix}{number.upper()}", some[3]), (f"{prefix}{text.upper()}", rng.choice([*other, ""])), (flag.upper(), "1")]
    around += [(f"{prefix}{flag.upper()}", rng.choice(["1", "0", "on"])), (f"{prefix}{flag}", "0")]
    order, chain = ["$typed(argv)", "$around($env)", "$in_file(SETTINGS)"], "ChainMap" in values["shape_code"]
    order = order[::-1] if rng.random() < 0.2 else [order[1], order[0], order[2]] if rng.random() < 0.2 else order
    made = {"argv": " ".join(typed).split(), "shell": dict(rng.sample(around, 3)), "short": letter, "lines": repr("\n".join(lines))}
    defaults = {number: int(some[4]), flag: rng.random() < 0.5, text: other[0]}
    return {**made, "order": ", ".join(order if chain else order[::-1]), "defaults": defaults, "head": HEAD * chain}


TEMPLATE = Template(
    kind=Kind.QA,
    domain="command lines",
    instruction="$ask `$main($argv, $shell)` of $tool.py return? Write it as a Python literal: the function in answer.py must "
    "return it.",
    parameters={
        "tool": one_of("tool", "cli", "command", "main", "app", "program"),
        "sources": one_of("sources", "options", "settings", "setup_options", "layers"),
        "main": name("verb", "quality", "things"),
        "merge": name("merge", "quality", "options"),
        "typed": name("typed", "quality", "options"),
        "in_file": name("stored", "quality", "options"),
        "around": name("shell", "quality", "options"),
        "convert": name("as", "quality", "value"),
        "env": one_of("env", "environ", "shell", "around"),
        "prefix": one_of("APP_", "MY_", "CLI_", "RUN_", "X_"),
        "number": rows(*({"0": one} for one in ("level", "retries", "width", "jobs", "depth", "limit", "pages"))),
        "flag": rows(*({"0": one} for one in ("color", "force", "quiet", "strict", "cache", "backup"))),
        "text": rows(*({"0": one} for one in ("target", "output", "author", "mode", "theme", "zone"))),
        "others": words("thing", 4),
        "found": words("list", 1),
        "low": integers(3, 20),
        "high": integers(21, 60),
        "given": one_of("", " is not None", ' != ""', ' not in (None, "")'),
        "seed": integers(0, 10**9),
        "ask": one_of("An option is ignored, it seems. What does", "Which options win, that is, what does", "What exactly does"),
        "shape": rows({"code": LAYERS.strip()}, {"code": CHAIN.strip()}),
        "end": rows({"code": CODES.strip()}, {"code": CHECKED.strip()}, {"code": LISTED.strip()}),
    },
    derive=_sources,
    files={
        "$sources.py": '''
            import argparse

            PREFIX = "$prefix"
            DEFAULTS = $defaults


            def $typed(argv):
                """What is typed."""
                parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS)
                parser.add_argument("--$number_0", type=int)
                parser.add_argument("--$flag_0", action=argparse.BooleanOptionalAction)
                parser.add_argument("-$short", "--$text_0")
                return vars(parser.parse_args(argv))


            def $around($env):
                """What the environment says."""
                return {key.removeprefix(PREFIX).lower(): value for key, value in $env.items() if key.startswith(PREFIX)}


            def $in_file(text):
                """What a file of settings says."""
                pairs = [line.partition("#")[0].partition("=") for line in text.splitlines()]
                return {key.strip(): value.strip() for key, found, value in pairs if found}


            def $convert(key, value):
                """A value of the type that the default has."""
                if isinstance(DEFAULTS.get(key), bool):
                    return value in (True, "1", "on", "yes")
                return type(DEFAULTS.get(key, ""))(value)
        ''',
        "$tool.py": """
            ${head}from $sources import DEFAULTS, $around, $convert, $in_file, $typed

            SETTINGS = $lines


            $shape_code


            $end_code
        """,
    },
    entry="$tool.py:$main",
    calls=["($argv, $shell)"],
    thoughts="For each option I look which of the sources names it, and which of those counts most.",
)
