"""What a call of a small function gives."""

from swefuse.records import Kind
from swefuse.tasks.shipped import shipped
from swefuse.tasks.template import Template, one_of

TEMPLATE = Template(
    kind=Kind.QA,
    domain="algorithms",
    instruction="""
        What does `$f_name(*$f_ask)` in $module.py return? If it raises an error, answer with the name of its class as a text.
        `answer()` in answer.py must return it as a literal.
    """,
    parameters={"f": shipped(answers=True), "module": one_of("solution", "helpers", "tools", "core", "utils", "parts")},
    derive=lambda v: {"function": v["f_name"], "topic": v["f_topic"], "body_hash": v["f_body_hash"]},
    files={"$module.py": "$f_text"},
    entry="$module.py:$f_name",
    calls=("$f_ask",),
    thoughts="Follow the call line by line.",
)
