"""A small function is right and has no tests."""

from swefuse.records import Kind
from swefuse.tasks.shipped import shipped
from swefuse.tasks.template import Template, one_of

TEMPLATE = Template(
    kind=Kind.TESTGEN,
    domain="algorithms",
    instruction="""
        Write pytest tests for `$f_name` in $module.py, into test_$module.py. The function is right; its tests should fail as soon
        as somebody breaks it.
    """,
    parameters={"f": shipped(answers=True), "module": one_of("solution", "helpers", "tools", "core", "utils", "parts")},
    derive=lambda v: {"function": v["f_name"], "topic": v["f_topic"], "body_hash": v["f_body_hash"]},
    files={"$module.py": "$f_text", "test_$module.py": "from $module import $f_name\n"},
    solution={"test_$module.py": "import pytest\nfrom $module import $f_name\n\n\n$f_tests\n"},
    goal={"module": "$module.py", "tests": "test_$module.py"},
    thoughts="Ordinary arguments and the edges that the docstring names.",
)
