"""A web handler that counts its pages or cuts one out wrongly at an edge."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, integers, name, one_of, rows

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="web handlers",
    instruction="""
        $complaint The handler is `$handler` in $module.py; callers pass the query as a dict of strings.
    """,
    parameters={
        "module": one_of("views", "handlers", "api", "routes", "pages", "listing"),
        "handler": name("verb", "things"),
        "items": name("quality", "list"),
        "size": integers(5, 60, 5),
        "error": class_name("thing", "error"),
        "page": one_of("page", "p", "page_no", "sheet"),
        "total_key": one_of("total", "count", "hits", "size"),
        "bug": rows(
            {
                "count_bad": "len($items) // $size",
                "first_bad": "(number - 1) * $size",
                "last_bad": "first + $size",
                "complaint": "A last page that is not full cannot be reached.",
                "why": "Floor division leaves out a last page that is not full.",
            },
            {
                "count_bad": "-(-len($items) // $size)",
                "first_bad": "number * $size",
                "last_bad": "first + $size",
                "complaint": "The first page leaves out the first entries.",
                "why": "Pages are numbered from 1, so that the first one starts at 0.",
            },
            {
                "count_bad": "-(-len($items) // $size)",
                "first_bad": "(number - 1) * $size",
                "last_bad": "first + $size - 1",
                "complaint": "Every page lacks its last entry.",
                "why": "The end of a slice is not part of it.",
            },
            {
                "count_bad": "len($items) // $size + 1",
                "first_bad": "(number - 1) * $size",
                "last_bad": "first + $size",
                "complaint": "There is an empty page at the end when all pages are full.",
                "why": "One more page is counted even if nothing is left for it.",
            },
        ),
        "check": rows(
            {"text": 'if number < 1:\n    raise $error(f"no page {number}")'},
            {"text": "number = max(1, number)"},
            {"text": 'if number < 1:\n    return {"status": 400, "entries": []}'},
        ),
        "style": rows(
            {"pick": "$items[first:last]"},
            {"pick": "[entry for at, entry in enumerate($items) if first <= at < last]"},
            {"pick": "list($items)[first:last]"},
        ),
    },
    derive=lambda v: {"complaint": v["bug_complaint"]},
    files={
        "$module.py": '''
            """Pages of a list, as a handler answers them."""


            class $error(ValueError):
                """The page that was asked for does not exist."""


            def $handler(query, $items):
                """One page of entries, $size each, with the number of all pages. Pages are counted from 1."""
                number = int(query.get("$page", "1"))
                $check_text
                pages = $bug_count_bad
                first = $bug_first_bad
                last = $bug_last_bad
                return {
                    "status": 200,
                    "entries": $style_pick,
                    "pages": pages,
                    "$total_key": len($items),
                }
        ''',
    },
    repair={
        "bug_count_bad": "-(-len($items) // $size)",
        "bug_first_bad": "(number - 1) * $size",
        "bug_last_bad": "first + $size",
    },
    tests={
        "test_$module.py": """
            from $module import $handler


            def ask(number, count):
                return $handler({"$page": str(number)}, list(range(count)))


            def test_the_first_page_starts_at_the_beginning():
                assert ask(1, $size * 2)["entries"] == list(range($size))


            def test_the_second_page_goes_on_where_the_first_ended():
                assert ask(2, $size * 2)["entries"] == list(range($size, 2 * $size))


            def test_a_last_page_may_be_short():
                answer = ask(2, $size + 1)
                assert answer["entries"] == [$size]
                assert answer["pages"] == 2


            def test_full_pages_are_counted_once():
                assert ask(1, $size * 3)["pages"] == 3
                assert ask(1, $size * 3)["$total_key"] == $size * 3
        """,
    },
    thoughts="$bug_why",
)
