"""Tests for rules of a web server: which route and parameters a path has, or which form of an answer a client accepts."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, integers, name, one_of, rows, words

ROUTES = '''
ROUTES = [
    ("GET", "/$many_0", "list"), ("GET", "/$many_0/<int:number>", "show"),
    ("POST", "/$many_0/<int:number>/<action>", "act"), ("GET", "/$many_0/<word>", "search"),
]


def $helper(pattern, path):
    """The parameters of a path that fits a pattern, else None. Numbers have at most $most digits."""
    wanted, $given = pattern.strip("/").split("/"), path.strip("/").split("/")
    if len(wanted) != len($given):
        return None
    $found_0 = {}
    for want, $part in zip(wanted, $given):
        kind, _, key = want.strip("<>").rpartition(":")
        if not want.startswith("<"):
            if want != $part:
                return None
        elif not $part or kind == "int" and not ($part.isdigit() and len($part) <= $most):
            return None
        else:
            $found_0[key] = int($part) if kind == "int" else $part
    return $found_0


def $entry(method, path):
    """Name and parameters of the first route that fits. Raises $error where only the method is wrong, LookupError for no route."""
    allowed = []
    for verb, pattern, target in ROUTES:
        $match_0 = $helper(pattern, path.partition("?")[0])
        if $match_0 is not None:
            if verb == method or (method == "HEAD" and verb == "GET"):
                return target, $match_0
            allowed.append(verb)
    raise $error(", ".join(sorted(allowed))) if allowed else LookupError(path)
'''
ROUTES_TESTS = """
def test_patterns():
    assert $helper("/a/<int:n>", "a/07/") == {"n": 7}
    assert $helper("/a/<b>", "/a/7") == {"b": "7"}
    assert $helper("/<int:n>", "/" + "9" * $most) == {"n": int("9" * $most)}
    others = [("/a", "/b"), ("/a", "/a/b"), ("/a/<int:n>", "/a/x"), ("/<int:n>", "/" + "9" * ($most + 1)), ("/<b>/c", "/a/<b>/c")]
    assert [$helper(pattern, path) for pattern, path in (*others, ("/a/<b>/c", "/a//c"))] == [None] * 6


def test_the_first_route_that_fits():
    assert $entry("GET", "/$many_0?page=2") == ("list", {})
    assert $entry("HEAD", "/$many_0/5") == ("show", {"number": 5})
    assert $entry("GET", "/$many_0/five") == ("search", {"word": "five"})
    assert $entry("POST", "/$many_0/5/close") == ("act", {"number": 5, "action": "close"})


def test_what_there_is_not():
    for method, path, allowed in (("PUT", "/$many_0/5", "GET, GET"), ("HEAD", "/$many_0/5/close", "POST")):
        with pytest.raises($error, match=f"^{allowed}$$"):
            $entry(method, path)
    with pytest.raises(LookupError):
        $entry("GET", "/x")
"""
ACCEPT = '''
def $helper($given):
    """Media types of a header such as text/html;q=0.5, */* with their weights, the largest first. Weights of 0 are left out."""
    $found_0 = []
    for $part in $given.split(","):
        kind, *options = [one.strip() for one in $part.split(";")]
        weight = float(next((one[2:] for one in options if one.startswith("q=")), "1"))
        if weight < 0 or weight > 1:
            raise $error(f"weight {weight}")
        if kind and weight > 0:
            $found_0.append((kind.lower(), weight))
    return sorted($found_0, key=lambda item: -item[1])[:$most]


def $entry($given, $many_0):
    """The first of the offered types that a client likes best; the first one where it says nothing, None where none is accepted."""
    if not $given.strip():
        return $many_0[0]
    best, top = None, 0.0
    for offer in $many_0:
        $match_0 = (offer, offer.partition("/")[0] + "/*", "*/*")
        weight = max((weight for kind, weight in $helper($given) if kind in $match_0), default=0.0)
        if weight > top:
            best, top = offer, weight
    return best
'''
ACCEPT_TESTS = """
def test_weights():
    assert $helper("a/b;q=0.5, C/D , e/f;level=1;q=0.25") == [("c/d", 1.0), ("a/b", 0.5), ("e/f", 0.25)]
    assert $helper("a/b;q=0, ,;q=1, c/d;q=1") == [("c/d", 1.0)]
    assert len($helper(",".join(f"a/{at}" for at in range(20)))) == $most
    for wrong in ("a/b;q=1.1", "a/b;q=-0.1"):
        with pytest.raises($error):
            $helper(wrong)


def test_the_best_offer():
    $many_0 = ["text/html", "text/csv", "image/png"]
    assert $entry("image/png;q=0.4, text/*;q=0.3", $many_0) == "image/png"
    assert $entry("text/*, image/png", $many_0) == "text/html"
    assert $entry("*/*;q=0.2, image/png;q=0.3", $many_0) == "image/png"
    assert $entry("*/*", $many_0[1:]) == "text/csv"
    assert $entry(" ", ["a/b", "c/d"]) == "a/b"
    assert $entry("x/y, c/*;q=0", ["a/b", "c/d"]) is None
"""

TEMPLATE = Template(
    kind=Kind.TESTGEN,
    domain="web handlers",
    instruction="$ask `$entry` in $module.py $shape_about, by way of `$helper`. Write the tests into test_$module.py, with "
    "every limit and every special case that you find in the code, and do not leave out what raises `$error`.",
    parameters={
        "module": one_of("routing", "rules", "paths", "dispatch", "server", "serving", "answers", "gateway", "front"),
        "entry": name("resolve", "quality", "request"),
        "helper": name("read", "quality", "thing"),
        "error": class_name("quality", "error"),
        "given": one_of("given", "header", "sent", "asked", "raw", "text", "line"),
        "many": words("list", 1),
        "part": one_of("part", "piece", "bit", "section", "element", "chunk"),
        "found": words("list", 1),
        "match": words("text", 1),
        "most": integers(3, 9),
        "ask": one_of(
            "This is the heart of the server and has no tests.",
            "A client got the wrong answer after a small change, and no test had failed.",
            "Write the tests that show what callers may rely on.",
            "Please cover this module with pytest before it moves to a library of its own.",
        ),
        "shape": rows(
            {"code": ROUTES.strip(), "tests": ROUTES_TESTS.strip(), "about": "finds the route of a path"},
            {"code": ACCEPT.strip(), "tests": ACCEPT_TESTS.strip(), "about": "chooses among media types what a client accepts"},
        ),
    },
    where=lambda v: len({v[key] for key in ("match_0", "many_0", "found_0", "given", "part")}) == 5,
    files={
        "$module.py": '"""Rules of a server."""\n\n\nclass $error(ValueError):\n    """Not allowed."""\n\n\n$shape_code\n',
        "test_$module.py": "from $module import $error, $entry, $helper\n",
    },
    goal={"module": "$module.py", "tests": "test_$module.py"},
    solution={"test_$module.py": "import pytest\nfrom $module import $error, $entry, $helper\n\n\n$shape_tests\n"},
    thoughts="Every way out of a function needs an input that takes it, and every limit a value on each side.",
)
