"""Rules over lists of records whose loops, flags and conditions say less than they take."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, integers, name, one_of, rows
from swefuse.tasks.templates._parts import ASKS, CALL_GAPS, case, nouns

_EVERY = case(
    ['([{"$field": 3, "$noun_1": "a"}],)',
     '([{"$field": -1, "$noun_1": "a"}],)', '([{"$field": 3, "$noun_1": ""}, {"$field": 2}],)',
     "([],)", '([{"$field": $limit, "$noun_1": "b"}, {"$field": 1, "$noun_1": "c"}],)', '([{"$noun_1": "z"}],)'],
    smell="A flag is carried through the whole loop.",
    why="The flag only remembers whether every record met the condition, which is what all() says.",
    head='def $func($items):\n    """Whether each $noun_0 has a name and a $field from 0 to $limit."""',
    bad="""
        ok = True
        for $noun_0 in $items:
            if ok:
                if $noun_0.get("$field", 0) < 0:
                    ok = False
                elif $noun_0.get("$field", 0) > $limit:
                    ok = False
                if $noun_0.get("$noun_1", "") == "":
                    ok = False
        if ok:
            return True
        return False
    """,
    good="""
        return all(
            0 <= $noun_0.get("$field", 0) <= $limit and $noun_0.get("$noun_1", "") != "" for $noun_0 in $items
        )
    """,
    use="$func(self.$items)",
    want='{"first": True, "both": False}',
)  # fmt: skip
_LARGEST = case(
    ['([{"$field": 3}, {"$field": 9}],)', "([],)", '([{"$field": 5, "$noun_1": "p"}, {"$field": 5, "$noun_1": "q"}],)',
     '([{"$field": -4}],)', '([{"$noun_1": "m"}, {"$field": -2}],)', '([{"$field": 1}, {"$field": 0}, {"$field": 1}],)'],
    smell="It is not clear which record wins among equal ones, nor what comes when there is none.",
    why="The loop keeps the first of the largest records, or None, just as max() with a key and a default does.",
    head='def $func($items):\n    """The first $noun_0 with the largest $field, or None where there are none."""',
    bad="""
        best = None
        seen = False
        for $noun_0 in $items:
            if not seen:
                best = $noun_0
                seen = True
            else:
                if $noun_0.get("$field", 0) > best.get("$field", 0):
                    best = $noun_0
                elif $noun_0.get("$field", 0) == best.get("$field", 0):
                    best = best
        if seen:
            return best
        else:
            return None
    """,
    good='return max($items, key=lambda $noun_0: $noun_0.get("$field", 0), default=None)',
    use="($func(self.$items) or {}).get(\"$noun_1\")",
    want='{"first": "x", "both": ""}',
)  # fmt: skip
_STATES = case(
    ['([{"$noun_2": "open"}, {"$noun_2": "done"}],)', "([],)", '([{"$noun_2": "late"}, {"$noun_2": "late"}, {}],)',
     '([{"$noun_2": "lost"}, {"$noun_2": "open"}],)', '([{"$noun_2": "done"}, {"$noun_2": "done"}],)', "([{}],)"],
    smell="Each state has a counter and a branch of its own.",
    why="The branches differ only in the name of the state, so the names can be looped over.",
    head='def $func($items):\n    """How many of the ${noun_0} records are open, done and late; other states do not count."""',
    bad="""
        opened = 0
        done = 0
        late = 0
        for $noun_0 in $items:
            if "$noun_2" in $noun_0:
                if $noun_0["$noun_2"] == "open":
                    opened += 1
                elif $noun_0["$noun_2"] == "done":
                    done += 1
                elif $noun_0["$noun_2"] == "late":
                    late += 1
                else:
                    pass
        return {"open": opened, "done": done, "late": late}
    """,
    good="""
        found = [$noun_0.get("$noun_2") for $noun_0 in $items]
        return {state: found.count(state) for state in ("open", "done", "late")}
    """,
    use='$func(self.$items)["open"]',
    want='{"first": 1, "both": 1}',
)  # fmt: skip
_CHANGED = case(
    ['([{"$field": 1}, {"$field": 2}],)', '([{"$field": 1, "$noun_1": "a"}, {"$field": 1}],)', "([{}, {}],)", "([],)",
     '([{"$noun_1": "b"}, {"$noun_2": "b"}],)', '([{"$field": 4}],)'],
    smell="Three places decide whether a key is reported.",
    why="A key is reported whenever its values differ, if a missing value counts as one unlike all others.",
    head='def $func($items):\n    """Sorted keys in which the first and the last ${noun_0} record differ."""',
    bad="""
        if len($items) == 0:
            return []
        old = $items[0]
        new = $items[-1]
        keys = []
        for key in old:
            if key in new:
                if old[key] != new[key]:
                    keys.append(key)
            else:
                keys.append(key)
        for key in new:
            if key not in old:
                keys.append(key)
        return sorted(keys)
    """,
    good="""
        if not $items:
            return []
        old, new = $items[0], $items[-1]
        return sorted(key for key in old.keys() | new.keys() if (key in old, old.get(key)) != (key in new, new.get(key)))
    """,
    use="$func(self.$items)",
    want='{"first": [], "both": sorted(["$field", "$noun_1", "$noun_2"])}',
)  # fmt: skip
TEMPLATE = Template(
    kind=Kind.REFACTOR,
    domain="data handling",
    instruction="$ask",
    parameters={
        "ask": ASKS,
        "case": rows(_EVERY, _LARGEST, _STATES, _CHANGED),
        "module": one_of("records", "rules", "checks", "tables", "registry", "figures", "cleaning", "intake"),
        "func": name("verb", "quality", "things"),
        "items": name("quality", "list"),
        "field": name("quality", "number"),
        "owner": class_name("quality", "thing", "list"),
        "adder": name("verb", "thing"),
        "report": name("verb", "number"),
        "noun": nouns(3),
        "limit": integers(12, 400),
    },
    derive=lambda v: {"smell": v["case_smell"]},
    files={
        "$module.py": '''
            """What is known about each $noun_0, and what follows from it."""


            $case_bad


            class $owner:
                """The ${noun_0} records of one $noun_2."""

                def __init__(self):
                    self.$items = []

                def $adder(self, $field, $noun_1, $noun_2="open"):
                    """Take a ${noun_0} record in."""
                    self.$items.append({"$field": $field, "$noun_1": $noun_1, "$noun_2": $noun_2})

                def $report(self):
                    """What the rule says about all that were taken in."""
                    return $case_use
        ''',
    },
    repair={"case_bad": "$case_good"},
    tests={
        "test_$module.py": """
            from $module import $owner

            WANT = $case_want


            def test_${report}_of_one_and_of_two():
                kept = $owner()
                kept.$adder(2, "x")
                assert kept.$report() == WANT["first"]
                kept.$adder($limit + 1, "", "done")
                assert kept.$report() == WANT["both"]
        """,
    },
    entry="$module.py:$func",
    calls=CALL_GAPS,
    goal={"function": "$module.py:$func"},
    thoughts="$case_why",
)
