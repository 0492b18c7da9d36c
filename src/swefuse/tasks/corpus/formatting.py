"""Corpus, topic `formatting`: writing numbers, tables and labels as text."""


def format_bytes(size: int) -> str:
    """Write a byte count with a binary unit and one decimal."""
    if size < 0:
        raise ValueError("negative size")
    units = ["B", "KiB", "MiB", "GiB"]
    value = float(size)
    level = 0
    while value >= 1024 and level < len(units) - 1:
        value /= 1024
        level += 1
    return f"{size} B" if level == 0 else f"{value:.1f} {units[level]}"


def format_clock(seconds: int) -> str:
    """Write seconds as minutes and seconds, with hours only when needed."""
    sign = "-" if seconds < 0 else ""
    minutes, secs = divmod(abs(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours > 0:
        return f"{sign}{hours}:{minutes:02d}:{secs:02d}"
    return f"{sign}{minutes}:{secs:02d}"


def group_thousands(number: int, sep: str) -> str:
    """Write a whole number with a separator between groups of three digits."""
    digits = str(abs(number))
    out = ""
    for i, digit in enumerate(digits):
        if i > 0 and (len(digits) - i) % 3 == 0:
            out += sep
        out += digit
    return "-" + out if number < 0 else out


def ordinal_label(number: int) -> str:
    """Write a number with its English ordinal ending."""
    if number < 0:
        raise ValueError("negative rank")
    ending = "th"
    if number % 100 not in (11, 12, 13):
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def column_widths(rows: list[list[str]]) -> list[int]:
    """Measure the widest cell of every column of a ragged table."""
    widths: list[int] = []
    for row in rows:
        for i, cell in enumerate(row):
            if i == len(widths):
                widths.append(len(cell))
            elif len(cell) > widths[i]:
                widths[i] = len(cell)
    return widths


def align_row(cells: list[str], widths: list[int], kinds: str) -> str:
    """Pad cells to their widths, to the right where the kind is `r`."""
    if len(cells) > len(widths):
        raise ValueError("more cells than widths")
    out = []
    for i, cell in enumerate(cells):
        if i < len(kinds) and kinds[i] == "r":
            out.append(cell.rjust(widths[i]))
        else:
            out.append(cell.ljust(widths[i]))
    return " | ".join(out).rstrip()


def progress_bar(done: int, total: int, width: int) -> str:
    """Draw a progress bar of given width followed by the percentage."""
    if total <= 0:
        return "[" + " " * width + "] ?"
    done = max(0, min(done, total))
    filled = done * width // total
    percent = 100 * done // total
    return "[" + "#" * filled + "." * (width - filled) + f"] {percent}%"


def bar_chart(values: dict[str, int], width: int) -> list[str]:
    """Draw one scaled bar per entry, at least one mark for a positive value."""
    peak = max(values.values(), default=0)
    if peak <= 0 or width < 1:
        return [f"{name}:" for name in values]
    lines = []
    for name, value in values.items():
        size = value * width // peak
        if value > 0 and size == 0:
            size = 1
        lines.append(f"{name}: " + "=" * size)
    return lines


def page_window(current: int, last: int, reach: int) -> list[str]:
    """List the page links around the current page with gaps marked by dots."""
    if current < 1 or current > last:
        raise ValueError("page outside book")
    links = []
    for page in range(1, last + 1):
        if page in (1, last) or abs(page - current) <= reach:
            links.append(f"<{page}>" if page == current else str(page))
        elif links[-1] != "..":
            links.append("..")
    return links


def format_ranges(numbers: list[int]) -> str:
    """Write sorted numbers with runs of three or more shortened to ranges."""
    nums = sorted(set(numbers))
    parts = []
    i = 0
    while i < len(nums):
        j = i
        while j + 1 < len(nums) and nums[j + 1] == nums[j] + 1:
            j += 1
        if j - i >= 2:
            parts.append(f"{nums[i]}..{nums[j]}")
        else:
            parts += [str(n) for n in nums[i:j + 1]]
        i = j + 1
    return ",".join(parts)


def cents_to_text(cents: int, symbol: str) -> str:
    """Write an amount of cents as money, losses in parentheses."""
    whole, rest = divmod(abs(cents), 100)
    text = f"{symbol}{whole}.{rest:02d}"
    if cents < 0:
        return "(" + text + ")"
    return text


def time_ago(seconds: int) -> str:
    """Describe an age in its largest whole unit."""
    if seconds < 0:
        return "in the future"
    steps = [(86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
    for size, unit in steps:
        count = seconds // size
        if count >= 1:
            ending = "" if count == 1 else "s"
            return f"{count} {unit}{ending} ago"
    return "just now"


def slugify(title: str, limit: int) -> str:
    """Turn a title into lowercase words joined by dashes, up to a length."""
    slug = ""
    pending = False
    for ch in title.lower():
        if ch.isalnum():
            slug += "-" + ch if pending and slug else ch
            pending = False
        else:
            pending = True
    return slug[:max(limit, 0)].rstrip("-")


def box_text(lines: list[str], edge: str) -> list[str]:
    """Draw a frame around lines of text."""
    if len(edge) != 1:
        raise ValueError("edge must be one character")
    width = max([len(line) for line in lines], default=0)
    border = edge * (width + 4)
    framed = [border]
    for line in lines:
        gap = " " * (width - len(line))
        framed.append(f"{edge} {line}{gap} {edge}")
    framed.append(border)
    return framed


def number_lines(lines: list[str], first: int) -> list[str]:
    """Prefix lines with right-aligned line numbers."""
    last = first + len(lines) - 1
    width = max(len(str(first)), len(str(last)))
    out = []
    for number, line in enumerate(lines, start=first):
        out.append(f"{number:>{width}} {line}".rstrip())
    return out


def percent_shares(parts: list[int]) -> list[int]:
    """Turn amounts into whole percentages that add up to one hundred."""
    total = sum(parts)
    if total <= 0 or min(parts) < 0:
        return [0] * len(parts)
    shares = [100 * p // total for p in parts]
    order = sorted(range(len(parts)), key=lambda i: (-(100 * parts[i] % total), i))
    for i in order[:100 - sum(shares)]:
        shares[i] += 1
    return shares


def indent_block(lines: list[str], depth: int, hanging: bool) -> list[str]:
    """Indent lines, a hanging block leaving its first line alone."""
    if depth < 0:
        raise ValueError("negative depth")
    prefix = " " * depth
    out = []
    for i, line in enumerate(lines):
        if line == "" or (hanging and i == 0):
            out.append(line)
        else:
            out.append(prefix + line)
    return out


def format_matrix(rows: list[list[int]]) -> list[str]:
    """Write numbers in right-aligned columns of one common width."""
    width = 0
    for row in rows:
        for value in row:
            width = max(width, len(str(value)))
    return [" ".join(str(v).rjust(width) for v in row) for row in rows]


def checklist(tasks: dict[str, bool]) -> list[str]:
    """Write tasks as a checklist, open ones first, under a summary line."""
    done = sum(1 for flag in tasks.values() if flag)
    lines = [f"{done}/{len(tasks)} done"]
    for wanted, mark in ((False, " "), (True, "x")):
        for name in sorted(tasks):
            if tasks[name] == wanted:
                lines.append(f"[{mark}] {name}")
    return lines


def format_signed_change(old: int, new: int) -> str:
    """Describe a change with its sign and, if possible, as a percentage."""
    diff = new - old
    if diff == 0:
        return "unchanged"
    sign = "+" if diff > 0 else "-"
    if old == 0:
        return f"{sign}{abs(diff)}"
    percent = 100 * abs(diff) // abs(old)
    return f"{sign}{abs(diff)} ({sign}{percent}%)"


def ruler(length: int, step: int) -> str:
    """Draw a ruler with a bar at every step and at the end."""
    if step < 1:
        raise ValueError("step must be positive")
    marks = ""
    for pos in range(length + 1):
        if pos % step == 0 or pos == length:
            marks += "|"
        else:
            marks += "-"
    return marks


def compact_number(value: int) -> str:
    """Shorten a large number with k or M, cutting off the rest."""
    size = abs(value)
    for factor, suffix in ((1000000, "M"), (1000, "k")):
        if size >= factor:
            whole, tenth = size // factor, size % factor * 10 // factor
            text = f"{whole}.{tenth}{suffix}" if tenth and whole < 10 else f"{whole}{suffix}"
            return "-" + text if value < 0 else text
    return str(value)


def flow_columns(items: list[str], rows: int) -> list[str]:
    """Lay out items column by column in a given number of rows."""
    if rows < 1:
        raise ValueError("need at least one row")
    lines = []
    for r in range(min(rows, len(items))):
        cells = items[r::rows]
        lines.append("  ".join(cells))
    return lines


def score_sheet(names: list[str], points: list[int]) -> list[str]:
    """Rank players by points, equal points sharing a place."""
    table = sorted(zip(names, points), key=lambda entry: (-entry[1], entry[0]))
    lines = []
    place = 0
    for i, (name, score) in enumerate(table):
        if i == 0 or score != table[i - 1][1]:
            place = i + 1
        lines.append(f"{place}. {name} {score}")
    return lines


def fit_cell(text: str, width: int) -> str:
    """Make text exactly as wide as a cell, marking a cut with a tilde."""
    if width <= 0:
        return ""
    if len(text) > width:
        return text[:width - 1] + "~"
    return text + " " * (width - len(text))


def step_plot(values: list[int], height: int) -> list[str]:
    """Draw values as columns of stars, the top row first."""
    rows = []
    for level in range(height, 0, -1):
        row = ""
        for value in values:
            row += "*" if value >= level else " "
        rows.append(row.rstrip())
    return rows


def query_text(params: dict[str, int], skip: int) -> str:
    """Write parameters in key order as a query text, leaving out a default value."""
    pairs = []
    for key in sorted(params):
        value = params[key]
        if value == skip or not key:
            continue
        pairs.append(f"{key}={value}")
    if not pairs:
        return ""
    return "?" + "&".join(pairs)


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "format_bytes": [(500,), (1024,), (1536,), (5242880,), (-1,), (0,), (1023,), (5497558138880,)],
    "format_clock": [(75,), (3600,), (3599,), (-61,), (0,), (7325,), (-1,)],
    "group_thousands": [(1234567, ","), (999, ","), (-1000, "."), (0, "_"), (-12, ","), (100000, " "),
        (-1, "")],
    "ordinal_label": [(1,), (12,), (22,), (113,), (-1,), (103,), (0,), (11,), (13,)],
    "column_widths": [([["a", "bbb"], ["cc"]],), ([],), ([[], ["x"]],), ([["q"], ["r", "ss", ""]],),
        ([["abc"], ["ab"]],)],
    "align_row": [(["a", "7"], [3, 3], "lr"), ([], [2], "r"), (["a", "b"], [1], ""),
        (["x", "y"], [2, 2], "r"), (["long"], [2], "r")],
    "progress_bar": [(3, 10, 10), (0, 0, 4), (12, 10, 5), (-1, 4, 4), (1, 3, 10), (2, 2, 3), (2, 1, 4)],
    "bar_chart": [({"a": 4, "b": 1, "c": 0}, 8), ({}, 5), ({"x": 0}, 5), ({"x": 1, "y": 50}, 10),
        ({"p": 3}, 0), ({"p": 3, "q": -2}, 1)],
    "page_window": [(5, 10, 1), (1, 1, 0), (0, 5, 1), (3, 5, 2), (6, 5, 1), (7, 9, 0), (1, 6, 1), (5, 5, 1)],
    "format_ranges": [([1, 2, 3, 5],), ([],), ([4, 5],), ([9, 7, 8, 7, 1],), ([-2, -1, 0, 2],), ([3],)],
    "cents_to_text": [(1234, "$"), (-5, "$"), (0, ""), (100, "E"), (-20099, "$"), (99, "$"), (-1, "")],
    "time_ago": [(0,), (1,), (59,), (60,), (7200,), (90000,), (-1,), (172800,), (3600,)],
    "slugify": [("Hello, World!", 20), ("  A  b", 9), ("", 5), ("a b c", 4), ("***", 3), ("x-y", -1),
        ("No 1: Go", 3)],
    "box_text": [(["hi", "there"], "*"), ([], "#"), (["a"], "--"), ([""], "+"), (["abc", "d"], "|")],
    "number_lines": [(["a", "b"], 9), ([], 1), (["x"], 5), (["a", "", "c"], 99), (["p", "q"], -1),
        (["x", "y"], 8), (["a", "b", "c"], 8)],
    "percent_shares": [([1, 1, 1],), ([],), ([0, 0],), ([2, 3, 1],), ([5, -1],), ([7],), ([1, 6, 1, 6],),
        ([5, 0, 10, 0],), ([6, 7],)],
    "indent_block": [(["a", "", "b"], 2, False), (["a", "b"], 3, True), ([], 1, False),
        (["x"], -1, False), (["x", "y"], 0, True)],
    "format_matrix": [([[1, 20], [-3, 4]],), ([],), ([[]],), ([[5], [100, 7]],), ([[0, 0, 0]],)],
    "checklist": [({"b": True, "a": False, "c": False},), ({},), ({"x": True},),
        ({"z": True, "y": True},), ({"q": False},)],
    "format_signed_change": [(10, 15), (8, 6), (0, 3), (5, 5), (-4, -7), (0, -2), (3, 2), (2, 3), (3, 8)],
    "ruler": [(10, 5), (7, 3), (0, 1), (4, 0), (-1, 2), (3, 5), (5, 2)],
    "compact_number": [(999,), (1000,), (-1500,), (12300,), (2500000,), (0,), (-999999,), (10900,),
        (1000000,)],
    "flow_columns": [(["a", "b", "c", "d", "e"], 2), ([], 3), (["x"], 0), (["x", "y"], 5),
        (["p", "q", "r"], 1), (["a", "b", "c"], 3)],
    "score_sheet": [(["Al", "Bo", "Cy"], [5, 9, 5]), ([], []), (["x"], [0]), (["b", "a"], [1, 1]),
        (["a", "b", "c"], [3, 3, 2])],
    "fit_cell": [("hello", 4), ("hello", 5), ("hi", 5), ("x", 0), ("ab", 1), ("", 2), ("abc", -2)],
    "step_plot": [([1, 3, 2], 3), ([], 2), ([4], 0), ([0, 2], 2), ([1, -1, 1], 1), ([5, 0], 2)],
    "query_text": [({"b": 2, "a": 1}, 0), ({}, 1), ({"x": 3}, 3), ({"": 1, "k": 0}, 5),
        ({"z": 1, "y": 2, "q": 1}, 1)],
}
