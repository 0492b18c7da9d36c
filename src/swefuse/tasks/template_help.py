"""The template that ``swefuse tasks template new`` writes: it works as it stands, and says what everything is for."""

NEW = '''"""What goes wrong, or is asked for, in one sentence."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, integers, name, one_of, rows

TEMPLATE = Template(
    # bugfix, vulnfix, complete, testgen, docgen, refactor, optimize or qa; "swefuse tasks kinds" says what each needs
    kind=Kind.BUGFIX,
    # web handlers, data handling, parsing, numerics, concurrency, command lines, files, dates or algorithms
    domain="numerics",
    # what the agent is told: the symptom, not the repair. Gaps look like $function; $$ is a dollar sign
    instruction="""
        `$function` in $module.py $bug_symptom. Find out why and repair it.
    """,
    # what fills the gaps. Names are drawn from a vocabulary and never the same twice in a task
    parameters={
        "module": one_of("totals", "sums", "figures"),
        "function": name("verb", "things"),  # such as merge_invoices
        "values": name("quality", "list"),  # such as recent_rows
        "limit": integers(5, 50, 5),
        # values that belong together: each key becomes a gap of its own, $bug_wrong, $bug_right and $bug_symptom
        "bug": rows(
            {"wrong": "value < $limit", "right": "value <= $limit", "symptom": "leaves out values that just reach $limit"},
            {"wrong": "value != $limit", "right": "value <= $limit", "symptom": "counts values far above $limit"},
        ),
        "shape": rows(
            {"body": "return sum(value for value in $values if $test)"},
            {"body": "total = 0\\nfor value in $values:\\n    if $test:\\n        total += value\\nreturn total"},
        ),
        "test": one_of("$bug_wrong"),
    },
    # a draw that does not hold is made again
    where=lambda values: values["limit"] != 10,
    # the initial state. A gap alone on a line takes its indentation along
    files={
        "$module.py": """
            def $function($values):
                \\"\\"\\"Add up the values of at most $limit.\\"\\"\\"
                $shape_body
        """,
    },
    # gaps that the reference fills otherwise; for something written anew, give whole files as ``solution`` instead
    repair={"test": "$bug_right"},
    # tests as calls: these arguments and variations of them, with the answers of the reference
    entry="$module.py:$function",
    calls=("([1, $limit, 99],)", "([$limit],)", "([],)"),
    # or tests as pytest files: tests={"test_$module.py": """..."""}
    # what the model solution says before it edits
    thoughts="The comparison decides what belongs to the total, and it leaves the limit out.",
)
'''
