"""Corpus, topic `strings`: comparing, cutting and rearranging text by character."""


def shared_prefix_length(left: str, right: str) -> int:
    """Count the leading characters that two strings have in common."""
    limit = min(len(left), len(right))
    count = 0
    while count < limit and left[count] == right[count]:
        count += 1
    return count


def squeeze_repeats(text: str, keep: int) -> str:
    """Shorten every run of one character to at most `keep` characters."""
    if keep < 1:
        raise ValueError("keep must be positive")
    out = ""
    run = 0
    for i, ch in enumerate(text):
        run = run + 1 if i > 0 and text[i - 1] == ch else 1
        if run <= keep:
            out += ch
    return out


def split_at_case(text: str) -> list[str]:
    """Cut text before each capital letter that follows a lowercase one."""
    if not text:
        return []
    parts = []
    start = 0
    for i in range(1, len(text)):
        if text[i].isupper() and text[i - 1].islower():
            parts.append(text[start:i])
            start = i
    parts.append(text[start:])
    return parts


def mask_middle(text: str, head: int, tail: int) -> str:
    """Hide all but the first and last characters behind asterisks."""
    if head < 0 or tail < 0:
        raise ValueError("negative length")
    hidden = len(text) - head - tail
    if hidden <= 0:
        return text
    return text[:head] + "*" * hidden + text[len(text) - tail:]


def longest_run(text: str) -> tuple[str, int]:
    """Find the first longest run of one character and its length."""
    best_char, best = "", 0
    i = 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        if j - i > best:
            best_char, best = text[i], j - i
        i = j
    return best_char, best


def mismatch_positions(first: str, second: str) -> list[int]:
    """List the positions where two texts differ, the overhang included."""
    out = [i for i, (a, b) in enumerate(zip(first, second)) if a != b]
    short, long = sorted([len(first), len(second)])
    for i in range(short, long):
        out.append(i)
    return out


def rotate_to_char(text: str, mark: str) -> str:
    """Rotate text so that it starts at the first occurrence of the mark."""
    if len(mark) != 1:
        raise ValueError("mark must be one character")
    pos = text.find(mark)
    if pos < 0:
        return text
    return text[pos:] + text[:pos]


def is_subsequence_within(needle: str, hay: str, gap: int) -> bool:
    """Tell if a greedy left match of needle in hay skips at most `gap` characters at a time."""
    pos = 0
    skipped = 0
    for ch in hay:
        if pos == len(needle):
            break
        if ch == needle[pos]:
            pos += 1
            skipped = 0
        else:
            skipped += 1
            if skipped > gap:
                return False
    return pos == len(needle)


def interleave_texts(left: str, right: str) -> str:
    """Take characters from two texts in turn and append what is left over."""
    pieces = []
    for a, b in zip(left, right):
        pieces.append(a + b)
    done = len(pieces)
    rest = left[done:] if len(left) > len(right) else right[done:]
    return "".join(pieces) + rest


def occurrence_labels(text: str) -> list[str]:
    """Tag every character with how often it was seen up to that place."""
    seen: dict[str, int] = {}
    labels = []
    for ch in text:
        seen[ch] = seen.get(ch, 0) + 1
        labels.append(f"{ch}{seen[ch]}")
    return labels


def count_overlapping(text: str, pattern: str) -> int:
    """Count occurrences of a pattern, overlapping ones included."""
    if not pattern:
        return 0
    total = 0
    width = len(pattern)
    for start in range(len(text) - width + 1):
        if text[start:start + width] == pattern:
            total += 1
    return total


def smallest_period(text: str) -> int:
    """Find the smallest shift under which the text agrees with itself."""
    n = len(text)
    for shift in range(1, n):
        if all(text[i] == text[i - shift] for i in range(shift, n)):
            return shift
    return n


def center_pad(text: str, width: int, fill: str) -> str:
    """Centre text in a field, the spare fill character going right."""
    if len(fill) != 1:
        raise ValueError("fill must be one character")
    missing = width - len(text)
    if missing <= 0:
        return text
    left = missing // 2
    right = missing - left
    return fill * left + text + fill * right


def strip_matching_ends(text: str) -> str:
    """Drop equal first and last characters as long as there are any."""
    lo, hi = 0, len(text) - 1
    while lo < hi and text[lo] == text[hi]:
        lo += 1
        hi -= 1
    return text[lo:hi + 1]


def swap_halves(text: str) -> str:
    """Exchange the two halves of a text and keep a middle character in place."""
    half = len(text) // 2
    if half == 0:
        return text
    middle = text[half] if len(text) % 2 == 1 else ""
    return text[len(text) - half:] + middle + text[:half]


def erase_backspaces(keys: str, back: str) -> str:
    """Replay typed keys where one key deletes the character before it."""
    typed: list[str] = []
    for key in keys:
        if key != back:
            typed.append(key)
        elif typed:
            typed.pop()
    return "".join(typed)


def rarest_char(text: str) -> str:
    """Pick the least frequent character, the alphabetically first on ties."""
    if not text:
        raise ValueError("empty text")
    counts: dict[str, int] = {}
    for ch in text:
        counts[ch] = counts.get(ch, 0) + 1
    low = min(counts.values())
    return min(ch for ch in counts if counts[ch] == low)


def tile_text(pattern: str, length: int, offset: int) -> str:
    """Repeat a pattern to a given length, starting inside it at an offset."""
    if not pattern or length < 1:
        return ""
    out = ""
    at = offset % len(pattern)
    while len(out) < length:
        out += pattern[at]
        at += 1
        if at == len(pattern):
            at = 0
    return out


def replace_nth(text: str, old: str, new: str, nth: int) -> str:
    """Replace only the n-th occurrence of a substring, counted from one."""
    if not old or nth < 1:
        raise ValueError("nothing to replace")
    pos = text.find(old)
    while pos >= 0 and nth > 1:
        pos = text.find(old, pos + len(old))
        nth -= 1
    if pos < 0:
        return text
    return text[:pos] + new + text[pos + len(old):]


def zigzag_rows(text: str, rows: int) -> list[str]:
    """Write text down and up over several rows and read the rows."""
    if rows < 1:
        raise ValueError("need a row")
    lines = [""] * rows
    row, step = 0, 1
    for ch in text:
        lines[row] += ch
        if row + step < 0 or row + step >= rows:
            step = -step
        if rows > 1:
            row += step
    return lines


def chunk_from_right(text: str, size: int, sep: str) -> str:
    """Group characters from the right end and join the groups."""
    if size <= 0:
        return text
    groups = []
    end = len(text)
    while end > 0:
        groups.insert(0, text[max(0, end - size):end])
        end -= size
    return sep.join(groups)


def between_marks(text: str, opening: str, closing: str) -> str | None:
    """Return the text between the first opening mark and the next closing mark."""
    if not opening or not closing:
        return None
    start = text.find(opening)
    if start == -1:
        return None
    start += len(opening)
    end = text.find(closing, start)
    return text[start:end] if end != -1 else None


def column_text(lines: list[str], column: int) -> str:
    """Read one column of a text block, short lines counting as blank."""
    if column < 0:
        raise IndexError("negative column")
    picked = ""
    for line in lines:
        picked += line[column] if column < len(line) else " "
    return picked.rstrip()


def common_indent(lines: list[str]) -> int:
    """Measure the leading blanks shared by all non-blank lines."""
    best = -1
    for line in lines:
        bare = line.lstrip(" ")
        if not bare:
            continue
        indent = len(line) - len(bare)
        if best < 0 or indent < best:
            best = indent
    return best if best > 0 else 0


def overlap_join(head: str, tail: str) -> str:
    """Glue two texts, writing their longest overlap only once."""
    for size in range(min(len(head), len(tail)), 0, -1):
        if head[len(head) - size:] == tail[:size]:
            return head + tail[size:]
    return head + tail


def alternate_case(text: str, start_upper: bool) -> str:
    """Alternate upper and lower case over the letters, skipping the rest."""
    upper = start_upper
    out = ""
    for ch in text:
        if not ch.isalpha():
            out += ch
            continue
        out += ch.upper() if upper else ch.lower()
        upper = not upper
    return out


def letter_balance(text: str, plus: str, minus: str) -> tuple[int, int]:
    """Follow a score raised and lowered by characters; give its end and lowest value."""
    score, lowest = 0, 0
    for ch in text:
        if ch in plus:
            score += 1
        elif ch in minus:
            score -= 1
        lowest = min(lowest, score)
    return score, lowest


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "shared_prefix_length": [("abcd", "abxd"), ("ab", "abc"), ("", "a"), ("xy", "yx"), ("same", "same"),
        ("ab", "a")],
    "squeeze_repeats": [("aaabbc", 1), ("aaabbbb", 2), ("", 3), ("abca", 1), ("aa", 0), ("xxxx", 3)],
    "split_at_case": [("getHttpCode",), ("",), ("ABCdE",), ("x",), ("aB",), ("lower_Case",), ("Xab",)],
    "mask_middle": [("secret99", 1, 2), ("abc", 2, 1), ("abcd", 0, 0), ("x", -1, 0), ("hello", 2, 0),
        ("q", 0, -1), ("abcdefg", 6, 0)],
    "longest_run": [("aabbbcc",), ("",), ("xyz",), ("aabb",), ("abccc",)],
    "mismatch_positions": [("abcd", "abxd"), ("ab", "abyz"), ("", ""), ("kitten", "sit"), ("same", "same")],
    "rotate_to_char": [("hello", "l"), ("abc", "z"), ("abc", "ab"), ("abc", "a"), ("", "x"), ("xyz", "z")],
    "is_subsequence_within": [("ace", "abcde", 1), ("ae", "abcde", 2), ("", "abc", 0), ("abd", "abc", 5),
                              ("ae", "abcde", 3), ("ab", "abzz", 0)],
    "interleave_texts": [("abc", "12"), ("a", "1234"), ("", "xy"), ("", ""), ("ab", "cd"), ("pqr", "")],
    "occurrence_labels": [("abab",), ("",), ("aaa",), ("xyz",), ("a b a",)],
    "count_overlapping": [("aaaa", "aa"), ("abcabc", "abc"), ("abc", ""), ("ab", "abc"), ("", "x"),
        ("xyx", "x")],
    "smallest_period": [("ababab",), ("abcab",), ("",), ("aaaa",), ("abcd",), ("x",)],
    "center_pad": [("ab", 5, "-"), ("abc", 3, "*"), ("x", 4, "ab"), ("", 3, "."), ("abcd", 2, " "),
        ("q", 3, "_")],
    "strip_matching_ends": [("abcxba",), ("abba",), ("a",), ("",), ("xyz",), ("xaax",), ("**b*",)],
    "swap_halves": [("abcd",), ("abcde",), ("x",), ("",), ("ab",), ("xyz",)],
    "erase_backspaces": [("ab#c", "#"), ("##a", "#"), ("", "#"), ("abc###d", "#"), ("a<b", "#")],
    "rarest_char": [("aabbc",), ("zzyyx",), ("",), ("ba",), ("mississippi",)],
    "tile_text": [("abc", 7, 0), ("abc", 4, 2), ("", 5, 0), ("xy", 0, 1), ("xy", 1, -1), ("q", 3, 5)],
    "replace_nth": [("a-b-c", "-", "+", 2), ("aaa", "aa", "b", 1), ("abc", "z", "y", 1), ("aa", "", "x", 1),
                    ("abab", "ab", "", 3), ("abc", "a", "x", 0), ("aaaa", "aa", "z", 2)],
    "zigzag_rows": [("abcdefg", 3), ("abc", 1), ("", 2), ("abcd", 2), ("x", 0), ("abcdef", 4)],
    "chunk_from_right": [("1234567", 3, ","), ("123", 3, ","), ("", 2, "-"), ("abcd", 1, "."),
        ("abc", 0, "-")],
    "between_marks": [("a[bc]d", "[", "]"), ("abc", "[", "]"), ("x<<y", "<<", ">>"), ("ab", "", "b"),
                      ("<<v>>", "<<", ">>"), ("q||", "|", "|"), ("ab", "a", ""), ('a/cb)a', '/', 'b')],
    "column_text": [(["abc", "d", "ef"], 1), (["abc", "x"], 2), ([], 0), (["ab"], -1), (["a", "b"], 0),
        (["ab"], 2)],
    "common_indent": [(["  a", "    b"],), (["", "   ", " x"],), ([],), (["a", "  b"],), (["   ab c"],)],
    "overlap_join": [("abcd", "cdef"), ("abc", "xyz"), ("aaa", "aa"), ("", "ab"), ("ab", "ab"), ("xa", "ay")],
    "alternate_case": [("hello", True), ("a-b c", False), ("", True), ("123", True), ("aBcD", False)],
    "letter_balance": [("abca", "a", "bc"), ("", "a", "b"), ("bbba", "a", "b"), ("xyz", "x", "yz"),
        ("aab", "a", "b")],
}
