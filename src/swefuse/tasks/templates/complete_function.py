"""The body of a small function is missing; its docstring says what it does."""

from swefuse.records import Kind
from swefuse.tasks.shipped import shipped
from swefuse.tasks.template import Template, one_of

TEMPLATE = Template(
    kind=Kind.COMPLETE,
    domain="algorithms",
    instruction="$ask",
    parameters={
        "f": shipped(),
        "module": one_of("solution", "helpers", "tools", "core", "utils", "parts"),
        "ask": one_of(
            "`$f_name` in $module.py has no body yet. Write it; the docstring says what it does.",
            "Implement `$f_name` in $module.py as its docstring describes.",
            "Callers of `$f_name` ($module.py) end in an error because nobody has written it. Please do.",
        ),
    },
    derive=lambda v: {"function": v["f_name"], "topic": v["f_topic"], "body_hash": v["f_body_hash"]},
    files={"$module.py": "$f_stub"},
    solution={"$module.py": "$f_text"},
    entry="$module.py:$f_name",
    calls=("$f_calls",),
    thoughts="The signature and the docstring say what goes in and what comes out.",
)
