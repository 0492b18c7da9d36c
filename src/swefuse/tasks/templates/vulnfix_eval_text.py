"""A reader of small texts that evaluates them as Python."""

from textwrap import dedent

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, name, one_of, rows


def _row(imports: str, bad: str, good: str, doc: str, sort: str, takes: str, **more: str) -> Values:
    code = {"bad": dedent(bad).strip(), "good": dedent(good).strip()}
    return {"imports": imports, **code, "doc": doc, "sort": sort, "takes": takes, **more}


LITERAL = """
    try:
        $found = ast.literal_eval($text)
    except (ValueError, SyntaxError) as error:
        raise $error(f"cannot read {$text!r}") from error
    REST
"""
TABLE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
COMPARE = "{" + ", ".join(f'"{sign}": operator.{word}' for sign, word in TABLE.items()) + "}"
KNOWN = """

def _add(left, right):
    return left + right


def _times(left, right):
    return left * right


STEPS = {"add": _add, "times": _times}
"""
HOSTILE = "__import__('os').mkdir('owned')"

TEMPLATE = Template(
    kind=Kind.VULNFIX,
    domain="parsing",
    instruction="$ask",
    parameters={
        "module": one_of("reader", "readers", "parse", "texts", "values", "settings", "entry_text"),
        "error": class_name("thing", "error"),
        "cls": class_name("quality", "reader"),
        "op": name("read", "quality", "thing"),
        "every": name("read", "things"),
        "text": name("text", "text"),
        "found": name("quality", "value"),
        "kept": name("list", "seen"),
        "ask": one_of(
            "`$op` in $module.py runs whatever text it is given: $do_sort `$hostile` makes a folder. Text that is not what the "
            "docstring says must raise $error, and nothing may be run.",
            "Security review, $module.py: a $do_sort from a user reaches the interpreter through `$cls.$op`. Refuse everything "
            "that "
            "the docstring does not describe with $error.",
            "Somebody sent a $do_sort like `$hostile` and `$cls.$op` executed it. Valid input has to give the same results as "
            "before; for anything else $error is raised.",
        ),
        "do": rows(
            _row("import ast", '$kept = eval("{" + $text + "}")\nreturn {str(key): value for key, value in $kept.items()}',
                 LITERAL.replace("REST", 'if not isinstance($found, dict):\n        raise $error(f"no pairs: {$text!r}")\n'
                 "    return {str(key): value for key, value in $found.items()}").replace(
                     "($text)", '("{" + $text + "}")'),
                 "A dict of the pairs in a text such as ``'a': 1, 'b': [2]``.", "row of pairs", "$text",
                 good_call="\"'a': 1, 'b': [2]\"", want='{"a": 1, "b": [2]}', bad_call="\"'a': $hostile\"", odd_call='"\'a\': b"',
                 more="'a': print(1)|'a': 1} or {'b': exit()|'a': [n for n in (1,)]|'a': 'b'.upper()|'a': int('3')"),
            _row("import operator",
                 'sign, limit = $text.split()\nreturn [value for value in $kept if eval(f"{value} {sign} {limit}")]',
                 f'signs = {COMPARE}\nsign, _, limit = $text.partition(" ")\nif sign not in signs:\n'
                 '    raise $error(f"no comparison: {sign!r}")\ntry:\n    bound = float(limit)\nexcept ValueError as error:\n'
                 '    raise $error(f"no number: {limit!r}") from error\n'
                 "return [value for value in $kept if signs[sign](value, bound)]",
                 "The numbers for which a condition such as ``>= 10`` holds.", "condition", "$text, $kept",
                 good_call='">= 10", [4, 10, 12]', want="[10, 12]", bad_call='"< $hostile", [1]', odd_call='"is 3", [3]',
                 others=", [4, 10]", more="< print(1)|>= 1 or exit()|>= 1 and 2|< int('30')|< [30][0]|< 30 if 1 else 0"),
            _row("import re", "name, _, rest = $text.partition(' ')\nleft, right = rest.split()\n"
                 'return eval(f"_{name}({left}, {right})")',
                 "match = re.fullmatch(r'(\\w+) (-?\\d+) (-?\\d+)', $text)\nif not match or match[1] not in STEPS:\n"
                 '    raise $error(f"no step: {$text!r}")\nreturn STEPS[match[1]](int(match[2]), int(match[3]))',
                 "The result of a step such as ``add 2 3`` or ``times 4 5`` with two whole numbers.", "step", "$text",
                 good_call='"times 4 5"', want="20", bad_call='"add 1 $hostile"', odd_call='"drop 1 2"', before="steps",
                 more="add 1 print(1)|times 4 5 or exit()|add 1 ord('a')|times 4 [5][0]|add int('4') 5|add 4 (lambda:5)()"),
            _row("import re", "return eval($text.replace('%', '/100'))",
                 "total = 0.0\nfor part in $text.split('+'):\n    match = re.fullmatch(r'\\s*(\\d+(?:\\.\\d+)?)(%?)\\s*', part)\n"
                 '    if not match:\n        raise $error(f"no amount: {part!r}")\n'
                 "    total += float(match[1]) / (100 if match[2] else 1)\nreturn total",
                 "The sum of amounts such as ``1.5 + 25%``, where 25% is 0.25.", "sum", "$text",
                 good_call='"1.5 + 25% + 2"', want="3.75", bad_call='"1 + $hostile"', odd_call='"1 + x"',
                 more="1 + print(1)|1 or exit()|max(1, 2)|1 + int('2')|1 + [2][0]|2 ** 9|1 + (lambda: 2)()"),
        ),
    },
    derive=lambda v: {
        "hostile": HOSTILE, "code": "$do_bad",
        "texts": ",\n".join(f'"{text}"' for text in v["do_more"].split("|")) + ",", "others": v.get("do_others", ""),
        "known": KNOWN if "do_before" in v else "",
    },
    files={
        "$module.py": '''
            """Reads what people write into a field of a form."""

            $do_imports
            $known

            class $error(ValueError):
                """A text that is not what was asked for."""


            class $cls:
                """Reads texts and counts those that were refused."""

                def __init__(self):
                    self.refused = 0

                def $op(self, $do_takes):
                    """$do_doc Raises $error for other text."""
                    $code

                def $every(self, rows):
                    """What the texts of several rows, each a tuple of arguments, stand for; others are only counted."""
                    $found = []
                    for row in rows:
                        try:
                            $found.append(self.$op(*row))
                        except $error:
                            self.refused += 1
                    return $found
        ''',
    },
    repair={"code": "$do_good"},
    tests={
        "test_$module.py": """
            import pytest
            from $module import $cls, $error


            def test_usual_text_is_read():
                assert $cls().$op($do_good_call) == $do_want


            def test_nothing_is_run(tmp_path, monkeypatch):
                monkeypatch.chdir(tmp_path)
                with pytest.raises($error):
                    $cls().$op($do_bad_call)
                assert list(tmp_path.iterdir()) == []


            EXPRESSIONS = [
                $texts
            ]


            @pytest.mark.parametrize("text", EXPRESSIONS)
            def test_no_expression_is_worked_out(text):
                with pytest.raises($error):
                    $cls().$op(text$others)


            def test_other_text_is_refused():
                with pytest.raises($error):
                    $cls().$op($do_odd_call)


            def test_refused_rows_are_counted():
                made = $cls()
                assert made.$every([($do_good_call,), ($do_odd_call,)]) == [$do_want]
                assert made.refused == 1
        """,
    },
    goal={"rules": "S307,S102"},
    thoughts="`$op` hands the text to eval, which runs any expression. Reading only the notation that is meant leaves nothing to "
    "run.",
)  # fmt: skip
