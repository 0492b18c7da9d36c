"""Corpus, topic `digits`: check digits, number bases and the decimal digits of whole numbers."""


def weighted_check_digit(code: str, weights: list[int]) -> int:
    """Return the digit that makes the weighted digit sum of a code a multiple of ten."""
    if not weights:
        raise ValueError("no weights")
    total = 0
    for position, char in enumerate(code):
        if not char.isdigit():
            continue
        total += int(char) * weights[position % len(weights)]
    return (10 - total % 10) % 10


def card_sum_ok(number: str) -> bool:
    """Say whether a card number passes the doubling checksum, ignoring blanks."""
    digits = [int(char) for char in number if char in "0123456789"]
    if len(digits) < 2:
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        if place % 2 == 1:
            digit *= 2
            if digit > 9:
                digit -= 9
        total += digit
    return total % 10 == 0


def balanced_ternary(value: int) -> str:
    """Write a whole number in balanced base three with the digits '-', '0' and '+'."""
    if value == 0:
        return "0"
    text = ""
    while value != 0:
        rest = value % 3
        if rest == 2:
            text = "-" + text
            value = value // 3 + 1
        else:
            text = "0+"[rest] + text
            value //= 3
    return text


def carries_when_adding(first: int, second: int) -> int:
    """Count the carries of a written addition of two numbers without signs."""
    if first < 0 or second < 0:
        raise ValueError("negative number")
    carry = count = 0
    while first > 0 or second > 0:
        column = first % 10 + second % 10 + carry
        carry = 1 if column >= 10 else 0
        count += carry
        first //= 10
        second //= 10
    return count


def swap_digit_pairs(number: int) -> int:
    """Exchange neighbouring digits counted from the right; a lone leading digit stays."""
    rest = abs(number)
    result, scale = 0, 1
    while rest >= 10:
        pair = rest % 100
        result += (pair % 10 * 10 + pair // 10) * scale
        scale *= 100
        rest //= 100
    result += rest * scale
    return result if number >= 0 else -result


def upside_down(number: int) -> int | None:
    """Return the number seen when its digits are turned by half a turn, if all of them allow it."""
    turned = {"0": "0", "1": "1", "6": "9", "8": "8", "9": "6"}
    text = ""
    for char in str(abs(number)):
        if char not in turned:
            return None
        text = turned[char] + text
    value = int(text)
    if number < 0:
        value = -value
    return value


def fraction_digits(top: int, bottom: int, base: int) -> tuple[list[int], int]:
    """Return the digits after the point of a proper fraction and where they start to repeat, or -1."""
    if not 0 <= top < bottom or base < 2:
        raise ValueError("not a proper fraction or base")
    digits: list[int] = []
    seen: dict[int, int] = {}
    rest = top
    while rest and rest not in seen:
        seen[rest] = len(digits)
        digit, rest = divmod(rest * base, bottom)
        digits.append(digit)
    return digits, seen.get(rest, -1)


def parse_in_base(text: str, base: int) -> int:
    """Read a number in a base up to sixteen; give -1 when a digit does not fit the base."""
    if not text or not 2 <= base <= 16:
        return -1
    value = 0
    for char in text.lower():
        digit = "0123456789abcdef".find(char)
        if digit < 0 or digit >= base:
            return -1
        value = value * base + digit
    return value


def keep_largest(number: int, keep: int) -> int:
    """Drop digits so that the digits kept, in order, form the largest number."""
    digits = str(abs(number))
    drop = len(digits) - keep
    if keep <= 0:
        return 0
    stack: list[str] = []
    for digit in digits:
        while stack and drop > 0 and stack[-1] < digit:
            stack.pop()
            drop -= 1
        stack.append(digit)
    return int("".join(stack[:keep]))


def insert_digit(number: int, digit: int) -> int:
    """Insert a digit into a positive number so that the result is as large as possible."""
    if not 0 <= digit <= 9 or number < 0:
        raise ValueError("digit or number out of range")
    text = str(number)
    place = 0
    while place < len(text) and int(text[place]) >= digit:
        place += 1
    return int(text[:place] + str(digit) + text[place:])


def mixed_radix(value: int, sizes: list[int]) -> list[int]:
    """Split a value into mixed-radix digits, the last size being the fastest; the overflow leads."""
    if any(size < 1 for size in sizes):
        raise ValueError("sizes must be positive")
    digits: list[int] = []
    rest = value
    for size in sizes[::-1]:
        rest, digit = divmod(rest, size)
        digits.append(digit)
    digits.append(rest)
    digits.reverse()
    return digits


def say_runs(number: int) -> str:
    """Describe a number by the length of each run of equal digits followed by the digit."""
    text = str(abs(number))
    parts = []
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or text[place] != text[start]:
            parts.append(str(place - start) + text[start])
            start = place
    return "".join(parts)


def lit_segments(number: int, width: int) -> int:
    """Count the lit segments of a seven-segment display that shows a number padded with zeros."""
    segments = [6, 2, 5, 5, 4, 5, 6, 3, 7, 6]
    text = str(abs(number)).rjust(width, "0")
    lit = 0
    for char in text:
        lit += segments[int(char)]
    if number < 0:
        lit += 1
    return lit


def spread_of_digits(number: int) -> tuple[int, int]:
    """Return the smallest digit of a number and how much its largest digit exceeds it."""
    rest = abs(number)
    low = high = rest % 10
    while rest >= 10:
        rest //= 10
        digit = rest % 10
        if digit < low:
            low = digit
        elif digit > high:
            high = digit
    return low, high - low


def lucky_ticket(ticket: str, tolerance: int) -> bool:
    """Say whether the digit sums of the halves of a ticket differ by at most the tolerance."""
    if len(ticket) % 2 != 0 or not ticket.isdigit():
        return False
    half = len(ticket) // 2
    balance = 0
    for left, right in zip(ticket[:half], ticket[half:]):
        balance += int(left) - int(right)
    return abs(balance) <= tolerance


def mask_digits(text: str, visible: int, mask: str) -> str:
    """Hide all digits of a text but the last few; other characters stay."""
    hidden = sum(char.isdigit() for char in text) - max(visible, 0)
    result = []
    for char in text:
        if char.isdigit() and hidden > 0:
            result.append(mask)
            hidden -= 1
        else:
            result.append(char)
    return "".join(result)


def steps_to_sorted_gap(number: int, limit: int) -> int:
    """Count how often sorted digits are subtracted, large minus small, until the number repeats."""
    seen: set[int] = set()
    value = abs(number)
    steps = 0
    while value not in seen and steps < limit:
        seen.add(value)
        low = sorted(str(value))
        high = low[::-1]
        value = int("".join(high)) - int("".join(low))
        steps += 1
    return steps


def factorial_base(value: int) -> str:
    """Write a number in the factorial number system, digits joined by colons."""
    if value < 0:
        raise ValueError("negative value")
    digits: list[str] = []
    radix = 1
    while value > 0 or not digits:
        digits.append(str(value % radix))
        value //= radix
        radix += 1
    return ":".join(reversed(digits))


def common_digits(first: int, second: int) -> list[int]:
    """List the digits that two numbers share, each as often as both have it, in rising order."""
    left, right = str(abs(first)), str(abs(second))
    shared = []
    for digit in range(10):
        times = min(left.count(str(digit)), right.count(str(digit)))
        shared.extend([digit] * times)
    return shared


def next_odometer(wheels: list[int], top: int) -> list[int]:
    """Advance odometer wheels by one; a wheel past its top digit falls back to zero."""
    if not wheels:
        return []
    turned = list(wheels)
    place = len(turned) - 1
    while place >= 0:
        if turned[place] < top:
            turned[place] += 1
            break
        turned[place] = 0
        place -= 1
    return turned


def lock_turns(shown: str, wanted: str) -> int:
    """Count the single clicks, either way round, that turn the wheels of a lock to a code."""
    if len(shown) != len(wanted):
        raise ValueError("lengths differ")
    clicks = 0
    for left, right in zip(shown, wanted):
        if not left.isdecimal() or not right.isdecimal():
            continue
        ahead = (int(right) - int(left)) % 10
        clicks += min(ahead, 10 - ahead)
    return clicks


def negative_two_digits(value: int) -> str:
    """Write a whole number in base minus two."""
    text = "" if value else "0"
    while value != 0:
        bit = value % 2
        text = str(bit) + text
        value = (value - bit) // -2
    return text


def packed_decimal(number: int, signed: bool) -> list[int]:
    """Pack decimal digits two to a byte; a signed number ends with the nibble 12 or 13."""
    nibbles = [int(char) for char in str(abs(number))]
    if signed:
        nibbles.append(13 if number < 0 else 12)
    if len(nibbles) % 2 == 1:
        nibbles.insert(0, 0)
    packed = []
    for place in range(0, len(nibbles), 2):
        packed.append(nibbles[place] * 16 + nibbles[place + 1])
    return packed


def longest_digit_stair(number: int) -> int:
    """Return the most neighbouring digits of a number that each differ by one from the last."""
    digits = [int(char) for char in str(abs(number))]
    best = current = 1
    for before, after in zip(digits, digits[1:]):
        if abs(before - after) == 1:
            current += 1
        else:
            current = 1
        best = max(best, current)
    return best


def numbers_without(start: int, count: int, banned: int) -> list[int]:
    """List the next numbers from a start on that do not contain a banned digit."""
    if not 0 <= banned <= 9:
        raise ValueError("not a digit")
    found: list[int] = []
    number = start
    while len(found) < count:
        if str(banned) not in str(abs(number)):
            found.append(number)
        number += 1
    return found


def crossed_digits(first: int, second: int) -> int:
    """Interleave the digits of two numbers, the first one leading, and append what is left over."""
    left, right = str(abs(first)), str(abs(second))
    text = ""
    for place in range(min(len(left), len(right))):
        text += left[place] + right[place]
    if len(left) > len(right):
        text += left[len(right):]
    else:
        text += right[len(left):]
    return int(text)


def round_significant(number: int, figures: int) -> int:
    """Round a whole number half up in magnitude to a number of leading digits."""
    if figures < 1:
        return 0
    size = len(str(abs(number)))
    if size <= figures:
        return number
    unit = 10 ** (size - figures)
    rounded = (abs(number) + unit // 2) // unit * unit
    return -rounded if number < 0 else rounded


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "weighted_check_digit": [("1234", [3, 1]), ("55", [1]), ("9-7", [2, 9, 4]), ("", [7]), ("12", []),
        ("8", [5, 1])],
    "card_sum_ok": [("79927398713",), ("79927398710",), ("5",), ("18",), ("4 2",), ("91",)],
    "balanced_ternary": [(0,), (5,), (7,), (-8,), (40,), (1,)],
    "carries_when_adding": [(99, 1), (54, 45), (123, 456), (5, 58), (-1, 4), (0, 0)],
    "swap_digit_pairs": [(1234,), (-567,), (5,), (10,), (50607,), (0,)],
    "upside_down": [(1968,), (-619,), (123,), (0,), (80,), (6,), (-7,)],
    "fraction_digits": [(1, 8, 10), (1, 6, 10), (3, 7, 2), (0, 5, 10), (5, 5, 10), (1, 3, 1), (-1, 4, 3)],
    "parse_in_base": [("1f", 16), ("102", 3), ("12", 2), ("", 10), ("g", 16), ("11", 1), ("A", 17)],
    "keep_largest": [(4177, 2), (-9123, 3), (54321, 2), (12, 0), (7, 3), (2736, 1)],
    "insert_digit": [(526, 5), (999, 0), (0, 3), (71, 9), (3, 10), (-4, 2), (55, 5), (4, -1)],
    "mixed_radix": [(59, [24, 60]), (3725, [24, 60, 60]), (7, []), (5, [2, 2]), (4, [0, 3]), (-1, [6])],
    "say_runs": [(1,), (112,), (-333,), (1221,), (0,), (400,)],
    "lit_segments": [(8, 1), (17, 3), (-42, 2), (0, 0), (359, 2), (6, 2)],
    "spread_of_digits": [(7,), (10,), (-384,), (55,), (909,), (0,)],
    "lucky_ticket": [("123321", 0), ("123320", 1), ("1239", 5), ("123", 9), ("12a3", 9), ("", 0), ("90", 8)],
    "mask_digits": [("12-345", 2, "*"), ("a1b2", 0, "#"), ("99", 5, "*"), ("", 1, "x"), ("7 8 9", -1, "?"),
        ("10", 1, "")],
    "steps_to_sorted_gap": [(21, 30), (495, 9), (0, 5), (-100, 20), (3524, 30), (52, 2)],
    "factorial_base": [(0,), (1,), (10,), (23,), (24,), (-3,)],
    "common_digits": [(1123, 311), (-50, 5005), (7, 8), (99, 999), (0, 10), (2468, 8642)],
    "next_odometer": [([0, 0], 9), ([0, 9], 9), ([2, 2], 2), ([], 5), ([1, 0, 3], 3), ([7, 8], 4)],
    "lock_turns": [("0000", "1928"), ("55", "50"), ("", ""), ("1", "12"), ("a7", "33"), ("48", "4x"),
        ("907", "128")],
    "negative_two_digits": [(0,), (1,), (-1,), (6,), (-13,), (40,)],
    "packed_decimal": [(5, False), (1234, False), (-12, True), (123, True), (0, True), (907, False)],
    "longest_digit_stair": [(5,), (123,), (-1213,), (997,), (8765012,), (13,)],
    "numbers_without": [(8, 4, 9), (-2, 4, 0), (5, 0, 1), (38, 3, 4), (1, 2, 10), (1, 2, -1), (10, 2, 1)],
    "crossed_digits": [(135, 24), (1, 2345), (-9, 8), (12, 34), (0, 7), (5550, 1)],
    "round_significant": [(1449, 2), (-1450, 2), (99, 1), (5, 1), (72, 0), (7, 3), (4321, 1)],
}
