"""A small function with one injected bug."""

from swefuse.records import Kind
from swefuse.tasks.shipped import shipped
from swefuse.tasks.template import Template, one_of

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="algorithms",
    instruction="$ask",
    parameters={
        "f": shipped(bug=True),
        "module": one_of("solution", "helpers", "tools", "core", "utils", "parts"),
        "ask": one_of(
            "`$f_name` in $module.py gives wrong answers for some arguments. Find out why and repair it.",
            "Some tests of `$f_name` ($module.py) fail. Repair the function.",
            "Since the last change `$f_name` in $module.py no longer does what its docstring says.",
        ),
    },
    derive=lambda v: {"function": v["f_name"], "topic": v["f_topic"], "body_hash": v["f_body_hash"]},
    files={"$module.py": "$f_broken"},
    solution={"$module.py": "$f_text"},
    entry="$module.py:$f_name",
    calls=("$f_calls",),
    thoughts="One line does something else than the docstring says.",
)
