"""Corpus, topic `parsing`: reading small notations into values."""


def parse_range_list(spec: str) -> list[int]:
    """Expand a page list such as `1-3,7` into page numbers."""
    pages: list[int] = []
    for part in spec.split(","):
        if not part:
            continue
        low, dash, high = part.partition("-")
        first, last = int(low), int(high if dash else low)
        if last < first:
            raise ValueError("range runs backwards")
        pages.extend(range(first, min(last, first + 99) + 1))
    return pages


def parse_duration(text: str) -> int:
    """Read a duration such as `1h30m` as seconds."""
    factors = {"h": 3600, "m": 60, "s": 1}
    total, number = 0, 0
    for ch in text:
        if ch in "0123456789":
            number = number * 10 + int(ch)
        elif ch in factors:
            total += number * factors[ch]
            number = 0
        else:
            raise ValueError("unknown unit")
    return total + number


def split_quoted(line: str, sep: str) -> list[str]:
    """Split a line at separators that stand outside double quotes."""
    fields, field = [], ""
    quoted = False
    for ch in line:
        if ch == '"':
            quoted = not quoted
        elif ch == sep and not quoted:
            fields.append(field)
            field = ""
        else:
            field += ch
    fields.append(field)
    return fields


def parse_query(query: str) -> dict[str, list[str]]:
    """Collect the values of a query string by key."""
    if query.startswith("?"):
        query = query[1:]
    result: dict[str, list[str]] = {}
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        if key == "":
            continue
        result.setdefault(key, []).append(value)
    return result


def parse_version(text: str, width: int) -> list[int]:
    """Read a dotted version and pad it with zeros to a width."""
    numbers = []
    for part in text.split("."):
        if not part.isdecimal():
            raise ValueError("not a number")
        numbers.append(int(part))
    while len(numbers) < width:
        numbers.append(0)
    return numbers


def eval_left_to_right(tokens: list[str]) -> int:
    """Compute a token list with + - * strictly from left to right."""
    if len(tokens) % 2 == 0:
        raise ValueError("dangling operator")
    value = int(tokens[0])
    for i in range(1, len(tokens), 2):
        op, operand = tokens[i], int(tokens[i + 1])
        if op == "+":
            value += operand
        elif op == "-":
            value -= operand
        else:
            value *= operand
    return value


def eval_postfix(tokens: list[str]) -> int:
    """Compute an expression in postfix notation."""
    stack: list[int] = []
    for token in tokens:
        if token not in ("+", "-", "max"):
            stack.append(int(token))
            continue
        if len(stack) < 2:
            raise ValueError("too few operands")
        right = stack.pop()
        left = stack.pop()
        stack.append(left + right if token == "+" else left - right if token == "-" else max(left, right))
    if len(stack) != 1:
        raise ValueError("unbalanced expression")
    return stack[0]


def strip_comment(line: str, mark: str) -> str:
    """Cut a trailing comment unless the mark stands in single quotes."""
    inside = False
    for i, ch in enumerate(line):
        if ch == "'":
            inside = not inside
        elif ch == mark and not inside:
            return line[:i].rstrip()
    return line.rstrip()


def find_closing(text: str, start: int) -> int:
    """Find the parenthesis that closes the one at the start position."""
    if start < 0 or start >= len(text) or text[start] != "(":
        raise ValueError("no opening parenthesis")
    level = 0
    for i in range(start, len(text)):
        if text[i] == "(":
            level += 1
        elif text[i] == ")":
            level -= 1
        if level == 0:
            return i
    return -1


def tokenize_formula(text: str) -> list[str]:
    """Break a formula into numbers, names and single symbols."""
    tokens = []
    i = 0
    while i < len(text):
        j = i + 1
        if text[i].isalnum():
            while j < len(text) and text[j].isalnum():
                j += 1
        if not text[i].isspace():
            tokens.append(text[i:j])
        i = j
    return tokens


def parse_flags(args: list[str]) -> tuple[dict[str, str], list[str]]:
    """Separate command line options from positional arguments."""
    options: dict[str, str] = {}
    rest: list[str] = []
    for i, arg in enumerate(args):
        if arg == "--":
            rest.extend(args[i + 1:])
            break
        if arg.startswith("--"):
            name, _, value = arg[2:].partition("=")
            options[name] = value or "yes"
        else:
            rest.append(arg)
    return options, rest


def expand_counts(code: str) -> str:
    """Expand a code such as `a3b` where a digit repeats the letter before it."""
    out = ""
    for i, ch in enumerate(code):
        if ch not in "0123456789":
            out += ch
        elif i == 0:
            raise ValueError("count without a letter")
        elif int(ch) == 0:
            out = out[:-1]
        else:
            out += code[i - 1] * (int(ch) - 1)
    return out


def indent_tree(lines: list[str], unit: int) -> list[tuple[int, str]]:
    """Read an indented outline as pairs of depth and text."""
    if unit < 1:
        raise ValueError("unit must be positive")
    nodes = []
    depth = -1
    for line in lines:
        text = line.lstrip(" ")
        level = (len(line) - len(text)) // unit
        if level > depth + 1:
            level = depth + 1
        nodes.append((level, text))
        depth = level
    return nodes


def parse_polynomial(terms: list[str]) -> dict[int, int]:
    """Add up terms such as `3x2` by exponent, leaving out zero sums."""
    powers: dict[int, int] = {}
    for term in terms:
        factor, x, power = term.partition("x")
        coefficient = int(factor) if factor else 1
        exponent = int(power or "1") if x else 0
        powers[exponent] = powers.get(exponent, 0) + coefficient
    return {e: c for e, c in sorted(powers.items()) if c != 0}


def parse_cell(ref: str) -> tuple[int, int]:
    """Turn a spreadsheet reference into row and column counted from zero."""
    column = 0
    i = 0
    while i < len(ref) and "A" <= ref[i] <= "Z":
        column = column * 26 + ord(ref[i]) - ord("A") + 1
        i += 1
    if i == 0 or not ref[i:].isdecimal() or int(ref[i:]) < 1:
        raise ValueError("bad reference")
    return int(ref[i:]) - 1, column - 1


def fixed_fields(line: str, widths: list[int]) -> list[str]:
    """Slice a record into fields of fixed widths plus the remainder."""
    fields = []
    pos = 0
    for width in widths:
        if width < 0:
            raise ValueError("negative width")
        fields.append(line[pos:pos + width].strip())
        pos += width
    if pos < len(line):
        fields.append(line[pos:])
    return fields


def parse_money(text: str) -> int:
    """Read an amount such as `$1,204.5` as cents."""
    negative = text.startswith("-")
    clean = text.lstrip("-").lstrip("$").replace(",", "")
    whole, dot, cents = clean.partition(".")
    if dot and len(cents) > 2:
        raise ValueError("too many decimals")
    amount = int(whole or "0") * 100 + int((cents + "00")[:2])
    return -amount if negative else amount


def unfold_headers(lines: list[str]) -> list[tuple[str, str]]:
    """Read header lines whose value may continue on indented lines."""
    headers: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] == " " and headers:
            name, value = headers[-1]
            headers[-1] = (name, value + " " + line.strip())
        elif ":" in line:
            name, value = line.split(":", 1)
            headers.append((name.lower(), value.strip()))
    return headers


def parse_ratio(text: str) -> tuple[int, int]:
    """Read `a:b` or `p%` as a pair of numbers with a positive second one."""
    if text.endswith("%"):
        return int(text[:-1]), 100
    left, _, right = text.partition(":")
    top, bottom = int(left), int(right)
    if not bottom:
        raise ValueError("zero denominator")
    if bottom < 0:
        top, bottom = -top, -bottom
    return top, bottom


def moves_to_position(code: str) -> tuple[int, int]:
    """Follow moves such as `R2U` from the origin, one step if no digit follows."""
    x = y = 0
    for i, ch in enumerate(code):
        if ch not in "LRUD":
            continue
        follow = code[i + 1:i + 2]
        steps = int(follow) if follow in list("0123456789") else 1
        if ch in "LR":
            x += steps if ch == "R" else -steps
        else:
            y += steps if ch == "U" else -steps
    return x, y


def max_nesting_ok(tags: list[str], limit: int) -> bool:
    """Check that markup tags close in order and nest no deeper than a limit."""
    open_tags: list[str] = []
    for tag in tags:
        if tag[:1] != "/":
            open_tags.append(tag)
            if len(open_tags) > limit:
                return False
        elif not open_tags or open_tags.pop() != tag[1:]:
            return False
    return not open_tags


def parse_offset(text: str) -> int:
    """Read a zone offset such as `+0530` as minutes."""
    if len(text) != 5 or text[0] not in "+-":
        raise ValueError("bad offset")
    hours, minutes = int(text[1:3]), int(text[3:])
    total = hours * 60 + minutes
    return total if text[0] == "+" else -total


def parse_bits(mask: str) -> list[int]:
    """List the positions of the ones in a mask, counted from its right end."""
    positions = []
    for i, ch in enumerate(reversed(mask)):
        if ch == "1":
            positions.append(i)
        elif ch != "0":
            raise ValueError("not a bit")
    return positions


def numbers_in(text: str) -> list[int]:
    """Extract all unsigned whole numbers that occur in a text."""
    spaced = "".join(ch if "0" <= ch <= "9" else " " for ch in text)
    found = []
    for word in spaced.split():
        if len(word) == 1 or word[0] != "0":
            found.append(int(word))
    return found


def path_depth(path: str) -> int:
    """Measure how deep a path leads below its start, never above the root."""
    depth = 0
    for step in path.split("/"):
        if step == "..":
            depth = max(0, depth - 1)
        elif step not in ("", "."):
            depth += 1
    return depth


def int_or_default(text: str, default: int) -> int:
    """Read a whole number, falling back for text that is none or negative."""
    try:
        value = int(text)
    except ValueError:
        return default
    return value if value >= 0 else default


def parse_pairs(line: str) -> list[tuple[str, str]]:
    """Pair up alternating keys and values of a line; the count must be even."""
    words = line.split()
    if len(words) % 2 != 0:
        raise ValueError("key without a value")
    return [(words[i], words[i + 1]) for i in range(0, len(words), 2)]


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "parse_range_list": [("1-3,7",), ("",), ("5",), ("4-4, 9",), ("3-1",), ("x",), (",2,,0-100",)],
    "parse_duration": [("1h30m",), ("45",), ("",), ("2m5s",), ("3d",), ("1h1m1s",), ("12",)],
    "split_quoted": [('a,"b,c",d', ","), ("", ","), ('"x', ";"), ("a;b", ";"), ('p,""q,', ",")],
    "parse_query": [("?a=1&b=2&a=3",), ("",), ("x",), ("=5&k=v=w",), ("a=&a",)],
    "parse_version": [("1.2", 3), ("3.10.7", 2), ("v1", 2), ("4", 1), ("0.9", 0), ("", 1)],
    "eval_left_to_right": [(["2", "+", "3", "*", "4"],), (["7"],), ([],), (["5", "-", "8"],),
        (["1", "+"],), (["3", "*", "3"],)],
    "eval_postfix": [(["2", "3", "+"],), (["5", "8", "-"],), (["1", "+"],), (["1", "2"],), ([],),
        (["4", "9", "max", "1", "-"],)],
    "strip_comment": [("a = 1  # one", "#"), ("say '#' # x", "#"), ("", "#"), ("plain ", "#"), ("#", "#"),
        ("a '# b", "#")],
    "find_closing": [("a(b(c)d)e", 1), ("(()", 0), ("()", 0), ("()", 1), ("", 0), ("(a)(b)", 3),
        ("(x)", -3), ("x)", 0)],
    "tokenize_formula": [("x1 + 23*(y)",), ("",), ("ab",), ("  ",), ("a-b c",), ("((",)],
    "parse_flags": [(["--v", "a", "--n=3"],), ([],), (["x", "--", "--y", "z"],), (["--k="],),
        (["-s", "--a", "--a=b"],)],
    "expand_counts": [("a3b",), ("",), ("3a",), ("x0y1",), ("abc",), ("q9",), ("a2b2",), ("pqr0",)],
    "indent_tree": [(["a", "  b", "    c", "d"], 2), ([], 1), (["a"], 0), (["a", "      b"], 2),
        ([" x", "   y"], 1), (["a", " b"], 2)],
    "parse_polynomial": [(["3x2", "x", "4"],), ([],), (["2x", "-2x"],), (["5", "x0", "-1x3"],),
        (["x2", "x2"],)],
    "parse_cell": [("B3",), ("AA10",), ("A1",), ("7",), ("C",), ("Z0",), ("AZ2",), ("A1B",)],
    "fixed_fields": [("ab  cdXY", [4, 2]), ("abc", [1, 1, 1]), ("", [2]), ("abc", [-1]), ("abcd", []),
        ("xyz", [0, 2])],
    "parse_money": [("$1,204.5",), ("-3.07",), ("",), ("12",), ("1.234",), (".99",), ("-$5",)],
    "unfold_headers": [(["To: a", "  b", "Cc:c:d"],), ([],), ([" x", "junk"],), (["A:", " 1", " 2"],),
        (["K: v", "q"],), (["A:1", "B:2", "C:3", " 4"],)],
    "parse_ratio": [("3:4",), ("25%",), ("1:0",), ("2:-5",), ("-7:1",), ("x",), ("0:3",)],
    "moves_to_position": [("R2U",), ("",), ("L3D2R",), ("x5U0",), ("UUDR9",), ("DL",)],
    "max_nesting_ok": [(["a", "b", "/b", "/a"], 2), (["a", "b"], 1), ([], 0), (["/a"], 3),
        (["a", "/b"], 2), (["a"], 1)],
    "parse_offset": [("+0530",), ("-0100",), ("",), ("+000",), ("00530",), ("-0007",)],
    "parse_bits": [("1011",), ("",), ("0",), ("102",), ("10",)],
    "numbers_in": [("a12b3",), ("",), ("007 0",), ("x",), ("9,10;08",)],
    "path_depth": [("a/b/../c",), ("",), ("../..",), ("/a/./b/",), ("../x",)],
    "int_or_default": [("12", 5), ("x", 7), ("-3", 4), ("0", 9), ("", -1)],
    "parse_pairs": [("a 1 b 2",), ("",), ("k",), ("x y",), ("p q r",)],
}
