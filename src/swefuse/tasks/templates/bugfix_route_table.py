"""A table of routes that takes a path for another, or a method for a path."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, one_of, rows, words

GOOD = {
    "path": 'url.partition("?")[0]',
    "split": '[unquote($piece) for $piece in path.split("/") if $piece]',
    "fits": "len(wanted) != len(given)",
    "order": "[$piece.startswith($opens) for $piece in route[1]]",
    "other": "$allowed.append(verb)",
    "verb": "verb == method.upper()",
}

# fmt: off
BUGS = (
    ("path", 'url.rpartition("?")[0] or url',
     'A link such as `/$things_0?back=/$things_1?open=1` is answered with "not found" although `/$things_0` exists.',
     "The path ends at the first question mark, but it is cut at the last one, which belongs to the query."),
    ("split", '[$piece for $piece in unquote(path).split("/") if $piece]',
     "A $id that holds an encoded slash, as in `/$things_0/a%2Fb`, is not found, though `/$things_0/ab` is.",
     "The path is decoded before it is split, so that an encoded slash separates parts."),
    ("fits", "len(wanted) > len(given)",
     "`/$things_0/7/whatever` is answered as if it were `/$things_0/7`; it should not exist.",
     "Only paths that are too short are turned down, and zip leaves out what is too much."),
    ("order", "len(route[1])",
     "The page `/$things_0/$things_2` cannot be opened: the handler for a single $id answers it.",
     "Routes of one length stay in the order they were added, so a placeholder hides a fixed word that came later."),
    ("other", "raise $refused(verb)",
     "A POST to `/$things_3` is refused as a wrong method, although there is a route for it next to that for GET.",
     "The search ends at the first route with the path, before those for the other methods were looked at."),
    ("verb", "verb == method",
     "A client that sends its method as `get` is refused where `GET` works.",
     "Methods are kept in capitals, but that of the request is compared as it came."),
)
# fmt: on

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="web handlers",
    instruction="""
        $bug_complaint $place
    """,
    parameters={
        "things": words("thing", 4),
        "module": one_of("routing", "${things_0}_routes", "urls", "dispatch", "${things_0}_urls"),
        "table": one_of("${Thing}Routes", "${Thing}Router", "RouteTable", "${Thing}Urls", "${Thing}Dispatcher"),
        "add": one_of("add", "register", "route", "connect", "add_${things_0}_route"),
        "find": one_of("resolve", "find", "lookup", "match_request", "find_${things_0}_handler", "dispatch"),
        "fit": one_of("match_parts", "fit_pattern", "placeholder_values", "${things_0}_parameters", "compare_parts"),
        "routes": one_of("routes", "_routes", "entries", "${things_0}_routes", "known"),
        "target": one_of("handler", "target", "view", "endpoint", "callback", "${things_0}_view"),
        "allowed": one_of("allowed", "methods", "other_methods", "offered", "known_methods"),
        "values": one_of("values", "params", "found", "arguments", "bound", "${things_0}_values"),
        "piece": one_of("part", "piece", "step", "segment"),
        "missing": one_of("${Thing}NotFound", "NoRoute", "UnknownPath", "No${Thing}Route"),
        "refused": one_of("MethodRefused", "WrongMethod", "${Thing}MethodError", "MethodNotAllowed"),
        "parts": one_of('[$piece for $piece in pattern.split("/") if $piece]', 'list(filter(None, pattern.split("/")))'),
        "id": one_of("number", "key", "code", "ref", "slug"),
        "marks": rows(
            {"open": "<", "close": ">"}, {"open": "{", "close": "}"}, {"open": ":", "close": ""}, {"open": "[", "close": "]"}
        ),
        "place": one_of(
            "Requests go through `$table.$find` in `$module.py`.",
            "The routes are kept by `$table` ($module.py); our other services rely on its errors staying the same.",
            "I see it with `$table.$find(method, url)`; all routes were added before with `$add`.",
        ),
        "bug": rows(*({**GOOD, place: text, "complaint": said, "why": why} for place, text, said, why in BUGS)),
    },
    where=lambda v: "test" not in v.values(),  # pytest would collect what is named after it
    derive=lambda v: {
        "Thing": v["things_0"].title(),
        "opens": f'"{v["marks_open"]}"',
        "hole": v["marks_open"] + v["id"] + v["marks_close"],
    },
    files={
        "$module.py": '''
            """Which $target answers which path."""

            from urllib.parse import unquote


            class $missing(LookupError):
                """No route has this path."""


            class $refused(LookupError):
                """The path is known, though not with this method."""


            def $fit(wanted, given):
                """The $values of the placeholders if the parts of a path fit those of a route, else None."""
                if $bug_fits:
                    return None
                $values = {}
                for expected, $piece in zip(wanted, given):
                    if expected.startswith($opens):
                        $values[expected.strip("$marks_open$marks_close")] = $piece
                    elif expected != $piece:
                        return None
                return $values


            class $table:
                """Routes such as `/$things_0/$hole`. A fixed word goes before a placeholder in the same place."""

                def __init__(self):
                    self.$routes = []

                def $add(self, method, pattern, $target):
                    parts = $parts
                    self.$routes.append((method.upper(), parts, $target))

                def $find(self, method, url):
                    """The $target of a request, and its $values. Raises $missing or $refused."""
                    path = $bug_path
                    given = $bug_split
                    $allowed = []
                    ordered = sorted(self.$routes, key=lambda route: $bug_order)
                    for verb, wanted, $target in ordered:
                        $values = $fit(wanted, given)
                        if $values is None:
                            continue
                        if $bug_verb:
                            return $target, $values
                        $bug_other
                    if $allowed:
                        raise $refused(", ".join(sorted($allowed)))
                    raise $missing(path)
        ''',
    },
    repair={f"bug_{place}": text for place, text in GOOD.items()},
    tests={
        "test_$module.py": """
            import pytest

            from $module import $missing, $refused, $table


            ROUTES = [
                ("GET", "/$things_0", "all"), ("GET", "/$things_0/$hole", "one"), ("GET", "/$things_0/$things_2", "fixed"),
                ("GET", "/$things_3", "look"), ("post", "/$things_3/", "write"),
            ]


            def ask(method, url):
                made = $table()
                for route in ROUTES:
                    made.$add(*route)
                return made.$find(method, url)


            @pytest.mark.parametrize(("method", "url", "answer"), [
                ("GET", "/$things_0", ("all", {})), ("GET", "/$things_0/?limit=3", ("all", {})),
                ("GET", "/$things_0?back=/$things_1?open=1", ("all", {})),
                ("GET", "/$things_0/7", ("one", {"$id": "7"})), ("GET", "/$things_0/a%2Fb%20c", ("one", {"$id": "a/b c"})),
                ("GET", "/$things_0/$things_2", ("fixed", {})),
                ("get", "/$things_3", ("look", {})), ("POST", "/$things_3", ("write", {})),
            ])
            def test_found(method, url, answer):
                assert ask(method, url) == answer


            @pytest.mark.parametrize("url", ["/", "/$things_1", "/$things_0/7/whatever", "/$things_0/$things_2/7"])
            def test_unknown_paths(url):
                with pytest.raises($missing):
                    ask("GET", url)


            def test_unknown_methods_name_the_known_ones():
                with pytest.raises($refused, match="GET, POST"):
                    ask("DELETE", "/$things_3")
        """,
    },
    thoughts="$bug_why",
)
