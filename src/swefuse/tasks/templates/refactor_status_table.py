"""A web handler whose rules for statuses, methods and queries take more branches than they need."""

import random

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, drawn, integers, name, one_of, rows
from swefuse.tasks.templates._parts import ASKS, CALL_GAPS, case, nouns

_STATUSES = {
    "missing": 404, "expired": 410, "taken": 409, "forbidden": 403, "no_login": 401, "too_large": 413, "too_many": 429,
    "malformed": 422, "locked": 423, "offline": 503, "too_slow": 504, "unpaid": 402, "wrong_type": 415, "moved": 301,
}  # fmt: skip


def _codes(rng: random.Random) -> dict[str, str]:
    chosen = rng.sample(sorted(_STATUSES), 5)
    return {str(at): code for at, code in enumerate(chosen)} | {f"s{at}": str(_STATUSES[code]) for at, code in enumerate(chosen)}


_TABLE = case(
    ['("$codes_0",)', '("$codes_3",)', '("$codes_4",)', '("$codes_1",)', '("unheard_of",)', '("",)'],
    smell="Every new error code brings another branch.",
    why="All branches only pair a code with its status, which is what a dictionary does.",
    head='def $func(code):\n    """Status of the answer for an error code of ${thing_0} requests; $other for unlisted ones."""',
    bad="""
        if code == "$codes_0":
            return $codes_s0
        elif code == "$codes_1":
            return $codes_s1
        elif code == "$codes_2" or code == "$codes_3":
            if code == "$codes_2":
                return $codes_s2
            return $codes_s3
        elif code == "$codes_4":
            return $codes_s4
        else:
            return $other
    """,
    before="""
        $constant = {
            "$codes_0": $codes_s0,
            "$codes_1": $codes_s1,
            "$codes_2": $codes_s2,
            "$codes_3": $codes_s3,
            "$codes_4": $codes_s4,
        }
    """,
    good="return $constant.get(code, $other)",
    use="$func(code)",
    tests='assert $handler("$codes_2") == ($codes_s2, "$thing_1")\nassert $handler("?") == ($other, "$thing_1")',
)
_ALLOWED = case(
    ['("$thing_2", "GET", False)', '("$thing_2", "POST", False)', '("$thing_2", "PUT", True)', '("admin", "PUT", False)',
     '("guest", "GET", True)', '("$thing_2", "HEAD", False)'],
    smell="Nobody can say at a glance who may do what.",
    why="Several branches give the same answer, so that their conditions can stand in one expression.",
    head='def $func($who, method, owner):\n    """Whether a ${thing_0} request may go on: admins always, a $thing_2 to read or '
         'to change its own."""',
    bad="""
        allowed = False
        if $who == "admin":
            allowed = True
        else:
            if $who == "$thing_2":
                if method == "GET":
                    allowed = True
                elif method == "HEAD":
                    allowed = True
                elif owner:
                    allowed = True
        if allowed:
            return True
        else:
            return False
    """,
    good="""
        if $who == "admin":
            return True
        return $who == "$thing_2" and (method in ("GET", "HEAD") or bool(owner))
    """,
    use='200 if $func(code, "GET", True) else 403',
    tests='assert $handler("admin") == (200, "$thing_1")\nassert $handler("nobody") == (403, "$thing_1")',
)  # fmt: skip
_COPIES = case(
    ['("GET", "$thing_3")', '("GET", None)', '("HEAD", "$thing_2")', '("DELETE", "x")', '("DELETE", None)', '("PATCH", None)'],
    smell="The same check stands in every branch.",
    why="Whether there is an entry is asked in each branch; asked once, after the method, it needs no copies.",
    head='def $func(method, $thing_0):\n    """Answer a request for one $thing_0, which is None where there is none."""',
    bad="""
        if method == "GET":
            if $thing_0 is None:
                return {"status": 404, "$thing_1": None}
            return {"status": 200, "$thing_1": $thing_0}
        elif method == "HEAD":
            if $thing_0 is None:
                return {"status": 404, "$thing_1": None}
            return {"status": 200, "$thing_1": $thing_0}
        elif method == "DELETE":
            if $thing_0 is None:
                return {"status": 404, "$thing_1": None}
            return {"status": 204, "$thing_1": None}
        else:
            return {"status": 405, "$thing_1": None}
    """,
    good="""
        if method not in ("GET", "HEAD", "DELETE"):
            return {"status": 405, "$thing_1": None}
        if $thing_0 is None:
            return {"status": 404, "$thing_1": None}
        if method == "DELETE":
            return {"status": 204, "$thing_1": None}
        return {"status": 200, "$thing_1": $thing_0}
    """,
    use='$func("GET", code)["status"]',
    tests='assert $handler("$thing_3") == (200, "$thing_1")\nassert $handler(None) == (404, "$thing_1")',
)
_NUMBERS = case(
    ['({"$thing_0": "3", "$thing_1": "7"},)', '({"$thing_0": "x"},)', '({"$thing_0": "-2", "$thing_1": "900"},)', "({},)",
     '({"$thing_1": "0"},)', '({"$thing_0": "5", "$thing_1": ""},)'],
    smell="Each number of the query is read by a block of its own, and the blocks look alike.",
    why="Both blocks do the same with another key and default, so that one helper can do it.",
    head='def $func(query):\n    """Number and size of the page that a query asks for; what is no number counts as not given."""',
    bad="""
        try:
            number = int(query["$thing_0"])
        except KeyError:
            number = 1
        except ValueError:
            number = 1
        try:
            size = int(query["$thing_1"])
        except KeyError:
            size = $size
        except ValueError:
            size = $size
        if number < 1:
            number = 1
        if size > $most:
            size = $most
        return number, size
    """,
    before="""
        def _$table(query, key, default):
            try:
                return int(query[key])
            except (KeyError, ValueError):
                return default
    """,
    good='return max(1, _$table(query, "$thing_0", 1)), min($most, _$table(query, "$thing_1", $size))',
    use='$func({"$thing_1": code})[1]',
    tests='assert $handler("999") == ($most, "$thing_1")\nassert $handler("?") == ($size, "$thing_1")',
)  # fmt: skip
TEMPLATE = Template(
    kind=Kind.REFACTOR,
    domain="web handlers",
    instruction="$ask",
    parameters={
        "ask": ASKS,
        "case": rows(_TABLE, _ALLOWED, _COPIES, _NUMBERS),
        "module": one_of("views", "handlers", "api", "routes", "web", "service", "answers", "endpoints"),
        "func": name("verb", "thing"),
        "handler": name("verb", "quality", "things"),
        "error": class_name("quality", "thing", "error"),
        "table": name("quality", "text", "numbers"),
        "thing": nouns(4),
        "codes": drawn(_codes),
        "other": one_of(500, 400, 502, 520),
        "most": integers(40, 200, 10),
        "size": integers(5, 30),
        "who": one_of("role", "rank", "group", "account", "level"),
    },
    derive=lambda v: {"smell": v["case_smell"], "constant": v["table"].upper()},
    files={
        "$module.py": '''
            """Requests about ${thing_0} and ${thing_3}."""


            class $error(Exception):
                """A ${thing_0} request failed; ``code`` tells why."""

                def __init__(self, code):
                    super().__init__(f"$thing_0: {code}")
                    self.code = code


            $case_bad


            def $handler(code):
                """Status of a ${thing_3} request, and what it is about."""
                return $case_use, "$thing_1"
        ''',
    },
    repair={"case_bad": "$case_good"},
    tests={
        "test_$module.py": """
            from $module import $error, $handler


            def test_$handler():
                $case_tests


            def test_an_error_says_its_code():
                assert $error("$codes_0").code == "$codes_0"
        """,
    },
    entry="$module.py:$func",
    calls=CALL_GAPS,
    goal={"function": "$module.py:$func"},
    thoughts="$case_why",
)
