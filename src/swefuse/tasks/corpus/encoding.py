"""Corpus, topic `encoding`: turning values into codes and back."""


def run_length_pairs(values: list[int]) -> list[tuple[int, int]]:
    """Encode a list as pairs of value and repeat count."""
    pairs: list[tuple[int, int]] = []
    for value in values:
        if pairs and pairs[-1][0] == value:
            pairs[-1] = (value, pairs[-1][1] + 1)
        else:
            pairs.append((value, 1))
    return pairs


def delta_encode(values: list[int]) -> list[int]:
    """Store the first value and then the step to each next value."""
    if not values:
        return []
    out = [values[0]]
    for i in range(1, len(values)):
        out.append(values[i] - values[i - 1])
    return out


def delta_decode(deltas: list[int], start: int) -> list[int]:
    """Rebuild values from their steps, beginning at a start value."""
    out = []
    current = start
    for delta in deltas:
        current += delta
        out.append(current)
    return out


def zigzag_encode(values: list[int]) -> list[int]:
    """Map signed numbers to unsigned ones with small magnitudes first."""
    out = []
    for v in values:
        if v >= 0:
            out.append(2 * v)
        else:
            out.append(-2 * v - 1)
    return out


def varint_bytes(number: int) -> list[int]:
    """Encode a number in groups of seven bits, low group first."""
    if number < 0:
        raise ValueError("negative number")
    out = []
    while number >= 128:
        out.append(number % 128 + 128)
        number //= 128
    out.append(number)
    return out


def varint_value(data: list[int]) -> tuple[int, int]:
    """Decode one variable-length number; give its value and byte count."""
    value = 0
    scale = 1
    for used, byte in enumerate(data, start=1):
        value += (byte & 127) * scale
        if byte < 128:
            return value, used
        scale *= 128
    raise ValueError("truncated number")


def to_digits(number: int, base: int) -> list[int]:
    """Write a non-negative number as digits in a base, highest first."""
    if base < 2 or number < 0:
        raise ValueError("base or number too small")
    digits = []
    while number:
        number, digit = divmod(number, base)
        digits.insert(0, digit)
    return digits or [0]


def from_digits(digits: list[int], base: int) -> int:
    """Read digits in a base as a number, checking every digit."""
    value = 0
    for digit in digits:
        if not 0 <= digit < base:
            raise ValueError("digit out of range")
        value = value * base + digit
    return value


def column_name(index: int) -> str:
    """Name a spreadsheet column counted from one."""
    if index < 1:
        raise ValueError("columns start at one")
    name = ""
    while index > 0:
        index -= 1
        name = chr(ord("A") + index % 26) + name
        index //= 26
    return name


def pack_fields(values: list[int], widths: list[int]) -> int:
    """Pack values into one number, each in its own count of bits."""
    packed = 0
    for value, width in zip(values, widths):
        if width < 0 or value < 0 or value >= 1 << width:
            raise ValueError("value does not fit")
        packed = (packed << width) | value
    return packed


def unpack_fields(packed: int, widths: list[int]) -> list[int]:
    """Split a number into bit fields, the last field taken from the low end."""
    if any(w <= 0 for w in widths):
        raise ValueError("width must be positive")
    fields = []
    for width in reversed(widths):
        fields.append(packed & ((1 << width) - 1))
        packed >>= width
    return fields[::-1]


def rail_fence(text: str, rails: int) -> str:
    """Encrypt text by taking every n-th character, rail after rail."""
    if rails <= 1:
        return text
    out = []
    for rail in range(rails):
        out.append(text[rail::rails])
    return "".join(out)


def gray_sequence(bits: int) -> list[int]:
    """List the Gray code of at most six bits in order."""
    if bits < 0 or bits > 6:
        raise ValueError("unsupported size")
    codes = [0]
    for k in range(bits):
        top = 1 << k
        codes = codes + [top + c for c in reversed(codes)]
    return codes


def move_to_front(text: str, alphabet: str) -> list[int]:
    """Encode characters by their place in a list that keeps recent ones first."""
    order = list(alphabet)
    out = []
    for ch in text:
        if ch not in order:
            raise KeyError(ch)
        place = order.index(ch)
        out.append(place)
        order.insert(0, order.pop(place))
    return out


def dictionary_encode(words: list[str]) -> tuple[list[str], list[int]]:
    """Replace words by numbers into a table of distinct words."""
    table: list[str] = []
    numbers: dict[str, int] = {}
    codes = []
    for word in words:
        if word not in numbers:
            numbers[word] = len(table)
            table.append(word)
        codes.append(numbers[word])
    return table, codes


def keyed_shift(text: str, key: list[int]) -> str:
    """Shift lowercase letters by the numbers of a repeating key."""
    if not key:
        return text
    out = ""
    used = 0
    for ch in text:
        if "a" <= ch <= "z":
            place = ord(ch) - ord("a") + key[used % len(key)]
            out += chr(ord("a") + place % 26)
            used += 1
        else:
            out += ch
    return out


def hex_pairs(data: list[int], upper: bool) -> str:
    """Write bytes as two hexadecimal digits each."""
    digits = "0123456789ABCDEF" if upper else "0123456789abcdef"
    out = ""
    for byte in data:
        if byte < 0 or byte > 255:
            raise ValueError("not a byte")
        out += digits[byte // 16] + digits[byte % 16]
    return out


def percent_encode(text: str, safe: str) -> str:
    """Escape all characters that are neither letters, digits nor safe."""
    out = []
    for ch in text:
        if ch in safe or (ch.isascii() and ch.isalnum()):
            out.append(ch)
        else:
            code = ord(ch)
            out.append(f"%{code:02X}")
    return "".join(out)


def stuff_bits(bits: str, limit: int) -> str:
    """Insert a zero after every run of `limit` ones."""
    if limit < 1:
        raise ValueError("limit must be positive")
    out, ones = "", 0
    for bit in bits:
        out += bit
        ones = ones + 1 if bit == "1" else 0
        if ones == limit:
            out += "0"
            ones = 0
    return out


def sparse_encode(values: list[int], default: int) -> dict[int, int]:
    """Keep only the places whose value differs from the default, and the length at -1."""
    kept = {}
    for place, value in enumerate(values):
        if value != default:
            kept[place] = value
    kept[-1] = len(values)
    return kept


def sparse_decode(kept: dict[int, int], length: int, default: int) -> list[int]:
    """Rebuild a list from its stored places, ignoring places outside."""
    out = [default] * max(0, length)
    for place, value in kept.items():
        if 0 <= place < length:
            out[place] = value
    return out


def bitmap_rows(cells: list[tuple[int, int]], width: int, height: int) -> list[int]:
    """Encode marked cells as one bit mask per row, column zero being the lowest bit."""
    rows = [0] * max(height, 0)
    for x, y in cells:
        if x < 0 or x >= width or not 0 <= y < height:
            continue
        rows[y] |= 1 << x
    return rows


def checksum_frame(payload: list[int]) -> list[int]:
    """Frame a payload with its length and a checksum that makes the sum vanish modulo 256."""
    total = len(payload)
    for byte in payload:
        total += byte
    check = (256 - total % 256) % 256
    return [len(payload)] + payload + [check]


def read_frame(data: list[int], start: int) -> list[int]:
    """Read the payload of a length-prefixed frame at a position."""
    if start < 0 or start >= len(data):
        raise IndexError("no frame here")
    size = data[start]
    end = start + 1 + size
    if size < 0 or end > len(data):
        raise ValueError("truncated frame")
    return data[start + 1:end]


def back_reference(text: str, pos: int, window: int) -> tuple[int, int]:
    """Find the longest earlier copy of the text at a position as distance and length."""
    if pos < 0 or pos >= len(text):
        return 0, 0
    best_distance, best = 0, 0
    for start in range(max(0, pos - window), pos):
        length = 0
        while pos + length < len(text) and text[start + length] == text[pos + length]:
            length += 1
        if length >= best and length > 0:
            best_distance, best = pos - start, length
    return best_distance, best


def expand_references(items: list[tuple[int, int]], alphabet: str) -> str:
    """Decode items that are a letter number (with length 0) or a distance and length."""
    out = ""
    for first, length in items:
        if length == 0:
            out += alphabet[first % len(alphabet)] if alphabet else "?"
            continue
        if first < 1 or first > len(out):
            raise ValueError("distance out of range")
        for _ in range(length):
            out += out[-first]
    return out


def prefix_decode(bits: str, table: dict[str, str]) -> str:
    """Decode a bit text with a prefix code; a leftover is an error."""
    out, pending = "", ""
    for bit in bits:
        pending += bit
        if pending in table:
            out += table[pending]
            pending = ""
    if pending:
        raise ValueError("incomplete code")
    return out


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "run_length_pairs": [([1, 1, 2],), ([],), ([5],), ([3, 4, 3],), ([0, 0, 0, 0],), ([2, 0, 0],)],
    "delta_encode": [([3, 5, 4],), ([],), ([7],), ([-2, -2],), ([10, 0, 25, 24],)],
    "delta_decode": [([1, 2, -4], 10), ([], 3), ([0], 5), ([-1, -1], 0), ([7, 0, 3], -2)],
    "zigzag_encode": [([0, -1, 1, -2],), ([],), ([5],), ([-7, 7],), ([0],)],
    "varint_bytes": [(300,), (127,), (128,), (0,), (-1,), (16384,)],
    "varint_value": [([172, 2],), ([127],), ([128],), ([],), ([0, 5],), ([128, 128, 1, 9],)],
    "to_digits": [(13, 2), (0, 5), (255, 16), (7, 1), (-1, 10), (9, 10), (9, 9)],
    "from_digits": [([1, 0, 1], 2), ([], 10), ([2], 2), ([-1], 8), ([3, 7], 8), ([0, 0], 1)],
    "column_name": [(1,), (26,), (27,), (703,), (0,), (52,), (-4,)],
    "pack_fields": [([5, 1], [3, 2]), ([], []), ([8], [3]), ([7], [3]), ([-1], [4]), ([1, 2, 3], [1, 2]),
        ([0], [-1]), ([0, 3], [2, 2])],
    "unpack_fields": [(21, [3, 2]), (255, []), (9, [2, 2]), (0, [1, 1]), (5, [0]), (511, [1, 4, 3]),
        (6, [2, -1])],
    "rail_fence": [("abcdefg", 3), ("abcd", 2), ("abc", 1), ("", 4), ("abc", 9), ("xy", -1)],
    "gray_sequence": [(0,), (1,), (3,), (6,), (7,), (-1,)],
    "move_to_front": [("banana", "abn"), ("", "ab"), ("aab", "ab"), ("x", "ab"), ("cab", "abc")],
    "dictionary_encode": [(["a", "b", "a"],), ([],), (["x"],), (["q", "q"],), (["c", "b", "a", "b"],)],
    "keyed_shift": [("abc", [1, 2]), ("x-y z", [3]), ("abc", []), ("", [1]), ("az", [-1, 27]),
        ("A{`", [5]), ("abcd", [1, 5, 9])],
    "hex_pairs": [([255, 0, 16], True), ([171], False), ([], True), ([256], True), ([-1], False),
        ([15, 9], False)],
    "percent_encode": [("a b", ""), ("x/y", "/"), ("", "-"), ("\n", ""), ("q~9", "."), ("\u00e9", "")],
    "stuff_bits": [("1111", 2), ("11011", 3), ("", 1), ("101", 1), ("1", 0), ("11111", 5)],
    "sparse_encode": [([0, 5, 0, 6], 0), ([], 1), ([2, 2], 2), ([-1, 3], 3), ([1], 0)],
    "sparse_decode": [({1: 5, 3: 6}, 4, 0), ({}, 0, 7), ({0: 1, -1: 2, 2: 9}, 2, 3), ({5: 1}, -1, 0),
        ({}, 2, 4)],
    "bitmap_rows": [([(0, 0), (2, 1)], 3, 2), ([], 2, 2), ([(3, 0), (-1, 0), (1, 1)], 3, 2),
        ([(0, 2)], 3, 2), ([], 1, -1),
        ([(1, 0), (1, 0), (2, -1)], 4, 1)],
    "checksum_frame": [([1, 2, 3],), ([],), ([255],), ([250, 4],), ([200, 100],)],
    "read_frame": [([2, 7, 8, 9], 0), ([1, 5, 0], 2), ([3, 1], 0), ([], 0), ([1, 4], 2), ([-1, 3], 0),
        ([9, 1, 6], 1), ([0], -1)],
    "back_reference": [("abcabcx", 3, 6), ("aaaa", 1, 1), ("abc", 1, 5), ("ab", 2, 3), ("abab", 2, 1),
        ("xx", -1, 2),
        ("abxabyab", 6, 9), ("aab", 1, 9)],
    "expand_references": [([(0, 0), (1, 0), (2, 4)], "ab"), ([], "x"), ([(0, 0), (1, 3)], ""),
        ([(1, 1)], "ab"),
        ([(0, 0), (0, 2)], "q"), ([(0, 0), (2, 0), (1, 2), (3, 1)], "abc")],
    "prefix_decode": [("0110", {"0": "a", "11": "b"}), ("", {}), ("1", {"11": "b"}), ("000", {"0": "z"}),
        ("10", {"10": "", "1x": "q"})],
}
