"""A class that runs small tools on the files of a folder, with file names in a text for the shell."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, name, one_of, rows

RUN = """
$out = subprocess.run(
    $command, ${shell}cwd=self.$folder, capture_output=True, text=True, check=True
).stdout
"""
OUTPUT = """
$out = subprocess.check_output($command, ${shell}cwd=self.$folder, text=True)
"""
POPEN = """
process = subprocess.Popen(
    $command, ${shell}cwd=self.$folder, stdout=subprocess.PIPE, text=True
)
$out, _ = process.communicate()
"""
LINES = "return $out.splitlines()"


def _command(line: str, quote: str) -> str:
    outer = "'" if quote == '"' else '"'
    return f"f{outer}{line.replace('FILE', f'{quote}{{$file}}{quote}')}{outer}"


TEMPLATE = Template(
    kind=Kind.VULNFIX,
    domain="command lines",
    instruction="$ask",
    parameters={
        "module": one_of("tools", "textfiles", "filetools", "inspect_files", "logtools", "reports", "folders"),
        "cls": class_name("quality", "folder"),
        "noun": name("quality", "thing"),
        "names": name("all", "list"),
        "keep": name("save", "thing"),
        "folder": name("thing", "folder"),
        "file": name("thing", "name"),
        "out": name("text", "output"),
        "text": name("text"),
        "ask": one_of(
            "A file named `$hostile_name` in the folder makes `$cls.$op` of $module.py run a command of its own. A file with "
            "$hostile_odd in its name does not work either. Any name a file can have must be treated as a name.",
            "`$op` in $module.py lets the shell read the names of files, which come from uploads. With a name such as "
            "`$hostile_name` anything can be run on the server. Make it safe; what it returns stays as it is.",
            "Command injection in $module.py: whoever may name a file can run commands through `$cls.$op`. It also fails "
            "for names with $hostile_odd.",
            "The scanner flags the shell in `$op` ($module.py). Someone uploaded `$hostile_name` and a file called owned "
            "turned up. `$op` has to go on returning the same results.",
        ),
        "hostile": rows(
            {"name": "x; touch owned", "quote": "", "odd": "a blank"}, {"name": "x && touch owned", "quote": "", "odd": "a blank"},
            {"name": "x | touch owned", "quote": "", "odd": "a blank"}, {"name": "$$(touch owned)", "quote": '"',
             "odd": "a dollar"},
            {"name": "`touch owned`", "quote": '"', "odd": "a backquote"}, {"name": "'; touch owned; '", "quote": "'",
             "odd": "an apostrophe"},
        ),
        "call": rows({"text": RUN.strip()}, {"text": OUTPUT.strip()}, {"text": POPEN.strip()}),
        "do": rows(
            {"takes": "$file", "verb": "count", "doc": "Number of lines in a file.", "bad": "wc -l < FILE",
             "good": '["wc", "-l", "--", $file]',
             "after": "return int($out)", "better": "return int($out.split()[0])", "uses": "{}", "want": "3"},
            {"takes": "$file, count=2", "verb": "start_of", "doc": "The first lines of a file.", "bad": "head -n {count} FILE",
             "good": '["head", "-n", str(count), "--", $file]', "after": LINES, "better": LINES, "uses": "{}",
             "want": '["b,2", "a,1"]'},
            {"takes": "$file, count=1", "verb": "end_of", "doc": "The last lines of a file.", "bad": "tail -n {count} FILE",
             "good": '["tail", "-n", str(count), "--", $file]', "after": LINES, "better": LINES, "uses": "{}", "want": '["b,2"]'},
            {"takes": "$file", "verb": "sorted", "doc": "The lines of a file in order.", "bad": "sort FILE",
             "good": '["sort", "--", $file]',
             "after": LINES, "better": LINES, "uses": "{}", "want": '["a,1", "b,2", "b,2"]'},
            {"takes": "$file", "verb": "different", "doc": "How many different lines a file has.",
             "bad": "sort FILE | uniq | wc -l",
             "good": '["sort", "-u", "--", $file]', "after": "return int($out)", "better": "return len($out.splitlines())",
             "uses": "{}", "want": "2"},
            {"takes": "$file, column", "verb": "column_of", "doc": "One column of a file with commas, counted from 1.",
             "bad": "cut -d , -f {column} FILE", "good": '["cut", "-d", ",", "-f", str(column), "--", $file]',
             "after": LINES, "better": LINES, "uses": "{}, 2", "want": '["2", "1", "2"]'},
            {"takes": "$file, $text", "verb": "search", "doc": "The lines that hold a piece of text, which is no pattern.",
             "bad": "grep -F {$text} FILE", "good": '["grep", "-F", "-e", $text, "--", $file]',
             "after": LINES, "better": LINES, "uses": '{}, "a,"', "want": '["a,1"]'},
        ),
    },
    derive=lambda v: {
        "command": _command(v["do_bad"], v["hostile_quote"]), "op": f"{v['do_verb']}_{v['noun']}", "shell": "shell=True, ",
        "after": v["do_after"],
        "plain_call": v["do_uses"].format('"plain.txt"'), "hostile_call": v["do_uses"].format("name"),
    },
    files={
        "$module.py": '''
            """What the tools of the system tell about the files of one folder."""

            import subprocess
            from pathlib import Path


            class $cls:
                """A folder with text files."""

                def __init__(self, $folder):
                    self.$folder = Path($folder)

                def $names(self):
                    """Names of all files, sorted."""
                    return sorted(path.name for path in self.$folder.iterdir())

                def $keep(self, $file, $text):
                    """Write a file."""
                    (self.$folder / $file).write_text($text, encoding="utf-8")

                def $op(self, $do_takes):
                    """$do_doc"""
                    $call_text
                    $after
        ''',
    },
    repair={"command": "$do_good", "shell": "", "after": "$do_better"},
    tests={
        "test_$module.py": """
            import pytest
            from $module import $cls

            LINES = "b,2\\na,1\\nb,2\\n"


            def test_a_plain_name(tmp_path):
                made = $cls(tmp_path)
                made.$keep("plain.txt", LINES)
                assert made.$op($plain_call) == $do_want


            @pytest.mark.parametrize("name", ["two words.txt", "it's.txt", 'a"b.txt', "$hostile_name", "'; touch owned; '"])
            def test_any_name_is_only_a_name(tmp_path, name):
                made = $cls(tmp_path)
                made.$keep(name, LINES)
                assert made.$op($hostile_call) == $do_want
                assert made.$names() == [name]
        """,
    },
    goal={"rules": "S602,S604,S605"},
    thoughts="The name of the file becomes part of a line that a shell reads, so its special characters count. A list of arguments "
    "without a shell passes the name on as it is.",
)  # fmt: skip
