"""A small store in SQLite whose statements are put together from the caller's text."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, name, one_of, rows, words

QUOTE = '"'
FIND = """
def test_only_what_matches_is_found(filled):
    assert filled.$op("$who_0") == ["a1", "c3"]
    assert filled.$op("nobody") == []


def test_a_quote_is_a_letter(filled):
    filled.$add("d4", "o'$who_0", 5)
    assert filled.$op("o'$who_0") == ["d4"]


def test_text_is_never_a_condition(filled):
    assert filled.$op("x' OR 'a' = 'a") == []
    assert filled.$op('x" OR "a" = "a') == []
    assert filled.$op("x' OR 1 = 1 --") == []
    assert filled.$op("x' UNION SELECT $key FROM $things --") == []
"""
NUMBER = """

def test_a_number_is_never_a_condition(filled):
    for given in ("0 OR 1=1 --", "0 UNION SELECT $key FROM $things --", "0 OR 1 = 1 OR 1"):
        with contextlib.suppress(ValueError, TypeError, sqlite3.Error):
            assert filled.$op("nobody", given) == []
"""
OTHERS = """

def test_other_entries_stay_as_they_are(filled):
    others = [row for row in filled.$dump() if row[0] != "b2"]
    for given in ("0, $field = 'x' --", "0 OR 1=1 --", "x' --", "x', $number = 0 --"):
        with contextlib.suppress(ValueError, TypeError, sqlite3.Error):
            filled.$op("b2", given)
        assert [row for row in filled.$dump() if row[0] != "b2"] == others
"""
CHANGE = """
def test_one_entry_changes(filled):
    filled.$op("b2"$do_also)
    assert filled.$dump() == [$do_rest]


def test_text_is_never_a_condition(filled):
    before = filled.$dump()
    for given in ("x' OR 'a' = 'a", 'x" OR "a" = "a', "x' OR 1 = 1 --"):
        filled.$op(given$do_also)
        assert filled.$dump() == before
"""


def _statement(v: Values) -> Values:
    """The statement as it is put together and as it should be, and what tests say about it."""
    sql, style = v["do_sql"], v["style"]
    gaps = v["do_uses"].split()
    listed, first = ", ".join(gaps), gaps[0]
    if style == "f-string":
        bad = f'f"{sql.format(*["{" + gap + "}" for gap in gaps])}"'
    elif style == "percent":
        bad = f'"{sql.replace("%", "%%").format(*["%s"] * len(gaps))}" % {listed if len(gaps) == 1 else f"({listed})"}'
    else:
        texts = [f"str({gap})" if gap == "$limit" else gap for gap in gaps]
        bad = f'"{sql.format(*[f"{QUOTE} + {text} + {QUOTE}" for text in texts])}"'
    checks = FIND if v["do_test"] == "find" else CHANGE
    if "$limit" in gaps or "$field" in gaps[:-1]:
        checks += NUMBER if v["do_test"] == "find" else OTHERS
    good = sql.replace("'{0}%'", "? || '%'")
    for at in range(len(gaps)):
        good = good.replace(f"'{{{at}}}'", "?").replace(f"{{{at}}}", "?")
    return {
        "op": f"{v['do_verb']}_{v['noun']}", "built": bad, "passed": "$query", "good_text": f'"{good}"',
        "good_passed": f"$query, ({first},)" if len(gaps) == 1 else f"$query, ({listed})",
        "run": "return [row[0] for row in self.db.execute($passed)]" if v["do_test"] == "find" else "self.db.execute($passed)",
        "checks": checks.strip(), "tested": "import contextlib\nimport sqlite3\n\n" if "sqlite3." in checks else "",
    }  # fmt: skip


KEYS = ("test", "verb", "sql", "uses", "takes", "doc", "harm", "rest", "also")
CLASS = '''
"""Keeps $things with their $field."""

import sqlite3


class $store:
    """All $things of one database."""

    def __init__(self, path=":memory:"):
        self.db = sqlite3.connect(path)
        self.db.execute("CREATE TABLE IF NOT EXISTS $things ($key TEXT PRIMARY KEY, $field TEXT, $number INTEGER)")

    def $add(self, $key, $field, $number=0):
        """Keep one more entry."""
        self.db.execute("INSERT INTO $things VALUES (?, ?, ?)", ($key, $field, $number))

    def $op(self, $do_takes):
        """$do_doc"""
        $query = $built
        $run

    def $dump(self):
        """Every entry as a tuple, by its $key."""
        return self.db.execute("SELECT * FROM $things ORDER BY $key").fetchall()
'''
TEMPLATE = Template(
    kind=Kind.VULNFIX,
    domain="data handling",
    instruction="$ask",
    parameters={
        "module": one_of("store", "records", "database", "tables", "queries", "keeper", "repository"),
        "store": class_name("thing", "store"),
        "things": name("quality", "things"),
        "add": name("add", "thing"),
        "noun": name("thing"),
        "dump": name("all", "list"),
        "key": name("thing", "key"),
        "field": name("text"),
        "number": name("number"),
        "query": one_of("query", "statement", "sql", "command"),
        "limit": one_of("at_least", "lowest", "least", "smallest"),
        "who": words("person", 3),
        "style": one_of("f-string", "percent", "plus"),
        "ask": one_of(
            "Somebody passed `x' OR 'a' = 'a` to `$store.$op` in $module.py, and it $do_harm. A name with an apostrophe ends in "
            "sqlite3.OperationalError, too. Whatever text comes in has to be taken as plain text.",
            "`$op` of $module.py trusts its callers: text with a quote in it becomes part of the SQL statement, so that a "
            "crafted value $do_harm. Close this hole; results for usual values stay as they are.",
            "The security review lists an SQL injection in $store: crafted input to `$op` $do_harm. The method must do for any "
            "text exactly what its docstring says.",
        ),
        "do": rows(*(dict(zip(KEYS, row, strict=False)) for row in (
            ("find", "find", "SELECT $key FROM $things WHERE $field = '{0}' ORDER BY $key", "$field", "$field",
             "Keys of the entries with this $field, sorted.", "gives every key"),
            ("find", "search", "SELECT $key FROM $things WHERE $field LIKE '{0}%' ORDER BY $key", "$field", "$field",
             "Keys of entries whose $field starts so, sorted.", "lists all"),
            ("find", "pick", "SELECT $key FROM $things WHERE $number >= {0} AND $field = '{1}' ORDER BY $key", "$limit $field",
             "$field, $limit=1", "Keys of the entries with this $field and enough $number, sorted.",
             "finds entries of all kinds"),
            ("change", "remove", "DELETE FROM $things WHERE $key = '{0}'", "$key", "$key", "Forget the entry of one $key.",
             "deletes the whole table", '("a1", "$who_0", 3), ("c3", "$who_0", 9)', ""),
            ("change", "raise", "UPDATE $things SET $number = $number + {0} WHERE $key = '{1}'", "$limit $key", "$key, $limit",
             "Add to the $number of one entry.", "changes every entry",
             '("a1", "$who_0", 3), ("b2", "$who_1", 8), ("c3", "$who_0", 9)', ", 4"),
            ("change", "relabel", "UPDATE $things SET $field = '{0}' WHERE $key = '{1}'", "$field $key", "$key, $field",
             "Give one entry another $field.", "overwrites the whole column",
             '("a1", "$who_0", 3), ("b2", "$who_2", 4), ("c3", "$who_0", 9)', ', "$who_2"'),
        ))),
    },
    where=lambda v: v["number"] not in ("limit", "index"),  # words of SQL
    derive=_statement,
    files={"$module.py": CLASS},
    repair={"built": "$good_text", "passed": "$good_passed"},
    tests={
        "test_$module.py": """
            ${tested}import pytest
            from $module import $store


            @pytest.fixture
            def filled():
                made = $store()
                made.$add("a1", "$who_0", 3)
                made.$add("b2", "$who_1", 4)
                made.$add("c3", "$who_0", 9)
                return made


            $checks
        """,
    },
    goal={"rules": "S608"},
    thoughts="`$op` writes what the caller passes into the statement itself, so a quote in it ends the text and the "
    "rest runs as SQL. Values belong into the parameters of execute.",
)  # fmt: skip
