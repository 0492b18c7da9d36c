"""Plain data that comes back from the browser, as a cookie, a form field or a cursor, and is unpickled."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, name, one_of, rows

CART = '''
def $handler(cookies, $thing):
    """Put one more $thing into the basket of the cookie and answer with the new cookie."""
    $data = $read(cookies.get("$key", ""))
    $data["$field"] = [*$data.get("$field", []), $thing]
    return {"status": 200, "cookies": {"$key": $write($data)}, "count": len($data["$field"])}
'''
VISITS = '''
class $owner:
    """Counts how often a browser was here, by a field that it sends back."""

    def __init__(self, start=0):
        self.start = start

    def $handler(self, form):
        """One more visit, and the field for the next one."""
        $data = $read(form.get("$key", ""))
        number = $data.get("$field", self.start) + 1
        return {"status": 200, "visits": number, "$key": $write({**$data, "$field": number})}
'''
CART_TEST = """
def test_it_goes_on_where_it_was():
    first = $handler({}, "a")
    second = $handler(first["cookies"], "b")
    assert (first["count"], second["count"]) == (1, 2)
    assert $read(second["cookies"]["$key"]) == {"$field": ["a", "b"]}


def test_broken_text_starts_anew():
    assert $handler({"$key": "zz!"}, "a")["count"] == 1
"""
VISITS_TEST = """
def test_it_goes_on_where_it_was():
    counter = $owner()
    first = counter.$handler({})
    second = counter.$handler({"$key": first["$key"]})
    assert (first["visits"], second["visits"]) == (1, 2)


def test_broken_text_starts_anew():
    assert $owner(4).$handler({"$key": "zz!"})["visits"] == 5
"""

TEMPLATE = Template(
    kind=Kind.VULNFIX,
    domain="web handlers",
    instruction="$ask",
    parameters={
        "module": one_of("state", "cookies", "browser", "web_state", "handlers", "carry"),
        "owner": class_name("thing", "counter"),
        "handler": name("show", "quality", "things"),
        "read": name("read", "thing"),
        "write": name("write", "thing"),
        "thing": name("thing"),
        "key": name("text", "field"),
        "data": name("kept", "thing"),
        "field": name("number"),
        "text": name("text"),
        "raw": one_of("raw", "packed", "content", "given"),
        "ask": one_of(
            "`$read` of $module.py unpickles what the browser sends, so that a crafted `$key` runs code on the server. Only plain "
            "data (dicts, lists, numbers, text) is kept there. Text that does not come from `$write` counts as empty.",
            "A visitor changed `$key` and got our server to make a folder: `$read` in $module.py believes what it is given. Fix "
            "it; "
            "`$handler` works as before, and texts in the old format may start anew.",
            "Anybody can execute code through `$handler` ($module.py) with a forged `$key`. What we keep is plain data, so nothing "
            "but plain data must come out. Forged text is to be taken as missing.",
        ),
        "wrap": rows(
            {"to": "base64.urlsafe_b64encode($raw).decode()", "from": "base64.urlsafe_b64decode($text)",
             "first": "import base64\n"},
            {"to": "$raw.hex()", "from": "bytes.fromhex($text)"},
            {"to": "base64.b64encode(zlib.compress($raw)).decode()", "from": "zlib.decompress(base64.b64decode($text))",
             "error": "zlib.error, ", "first": "import base64\n", "last": "\nimport zlib"},
            {"to": "binascii.hexlify($raw).decode()", "from": "binascii.unhexlify($text)", "first": "import binascii\n"},
            {"to": "quote_from_bytes($raw)", "from": "unquote_to_bytes($text)",
             "last": "\nfrom urllib.parse import quote_from_bytes, unquote_to_bytes"},
        ),
        "use": rows(
            {"code": CART.strip(), "test": CART_TEST.strip()}, {"code": VISITS.strip(), "test": VISITS_TEST.strip()},
        ),
    },
    derive=lambda v: {
        "codec": "import pickle", "dumped": "pickle.dumps($data)", "loaded": "pickle.loads($raw)",
        "errors": f"({v.get('wrap_error', '')}ValueError, EOFError, pickle.UnpicklingError)",
        "better": f"({v['wrap_error']}ValueError)" if "wrap_error" in v else "ValueError",
        "wrap_first": "", "wrap_last": "", **{key: v[key] for key in ("wrap_first", "wrap_last") if key in v},
        "entry": "$owner" if "class " in v["use_code"] else "$handler",
    },
    files={
        "$module.py": '''
            """Small data that travels through the browser and back."""

            ${wrap_first}$codec$wrap_last


            def $write($data):
                """The text that stands for a dict of plain data."""
                $raw = $dumped
                return $wrap_to


            def $read($text):
                """The dict that a text stands for; an empty one if it stands for none."""
                try:
                    $raw = $wrap_from
                    $data = $loaded
                except $errors:
                    return {}
                return $data if isinstance($data, dict) else {}


            $use_code
        ''',
    },
    repair={
        "codec": "import json", "dumped": "json.dumps($data).encode()", "loaded": "json.loads($raw)", "errors": "$better",
    },
    tests={
        "test_$module.py": """
            ${wrap_first}import os
            import pickle
            import subprocess$wrap_last

            import pytest
            from $module import $entry, $read, $write


            class Forged:
                def __init__(self, call, *given):
                    self.call, self.given = call, given

                def __reduce__(self):
                    return self.call, self.given


            FORGED = {
                "mkdir": Forged(os.mkdir, "owned"),
                "open": Forged(open, "owned", "w"),
                "shell": Forged(subprocess.call, ["touch", "owned"]),
                "eval": Forged(eval, "open('owned', 'w').close()"),
                "chain": {"$field": [Forged(list, Forged(map, os.mkdir, ["owned"])), Forged(os.mkdir, "also")]},
            }


            @pytest.mark.parametrize("sort", FORGED)
            def test_forged_text_runs_nothing(tmp_path, monkeypatch, sort):
                monkeypatch.chdir(tmp_path)
                $raw = pickle.dumps(FORGED[sort])
                assert $read($wrap_to) == {}
                assert list(tmp_path.iterdir()) == []


            def test_only_plain_data_comes_out():
                $raw = pickle.dumps({"$field": [Forged(complex, 1, 2), Forged(bytearray, 4)]})
                assert $read($wrap_to) == {}


            def test_plain_data_comes_back():
                $data = {"name": "$thing", "parts": [1, 2.5, None, {"on": True}]}
                assert $read($write($data)) == $data


            $use_test
        """,
    },
    goal={"rules": "S301,S302"},
    thoughts="pickle.loads can call anything that the text names, and `$read` gets it from the browser. JSON holds the same plain "
    "data "
    "and calls nothing.",
)  # fmt: skip
