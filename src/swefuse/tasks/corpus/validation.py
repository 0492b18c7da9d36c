"""Corpus, topic `validation`: checking records, codes and settings."""


def password_problems(password: str, min_length: int) -> list[str]:
    """List what a password lacks."""
    problems = []
    if len(password) < min_length:
        problems.append("length")
    if not any(ch.isdigit() for ch in password):
        problems.append("digit")
    if password == password.lower():
        problems.append("capital")
    return problems


def weighted_check_ok(code: str, modulus: int) -> bool:
    """Check that digits weighted by their place from the right add up to a multiple."""
    if modulus < 1:
        raise ValueError("modulus must be positive")
    total = 0
    for i, ch in enumerate(reversed(code)):
        if not "0" <= ch <= "9":
            return False
        total += (i + 1) * int(ch)
    return len(code) > 0 and total % modulus == 0


def alternating_check_digit(digits: list[int]) -> int:
    """Compute a check digit with weights one and three in turn."""
    total = 0
    for i, digit in enumerate(digits):
        if digit < 0 or digit > 9:
            raise ValueError("not a digit")
        weight = 3 if i % 2 == 1 else 1
        total += weight * digit
    return (10 - total % 10) % 10


def valid_date(year: int, month: int, day: int) -> bool:
    """Tell if a calendar date exists."""
    if year < 1 or not 1 <= month <= 12 or day < 1:
        return False
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        limit = 29 if leap else 28
    elif month in (4, 6, 9, 11):
        limit = 30
    else:
        limit = 31
    return day <= limit


def valid_ipv4(address: str) -> bool:
    """Tell if text is a dotted address of four numbers without leading zeros."""
    parts = address.split(".")
    if len(parts) != 4:
        return False
    for part in parts:
        if not part.isdecimal() or len(part) > 3:
            return False
        if int(part) > 255 or (len(part) > 1 and part[0] == "0"):
            return False
    return True


def missing_keys(record: dict[str, str], required: list[str]) -> list[str]:
    """List required keys that are absent or blank."""
    missing = []
    for key in required:
        value = record.get(key, "")
        if value.strip() == "" and key not in missing:
            missing.append(key)
    return missing


def valid_identifier(name: str, max_length: int) -> bool:
    """Tell if a name starts with a letter and goes on with letters, digits or underscores."""
    if not name or len(name) > max_length:
        return False
    if not name[0].isalpha():
        return False
    for ch in name[1:]:
        if not (ch.isalnum() or ch == "_"):
            return False
    return True


def split_address(mail: str) -> tuple[str, str]:
    """Split a mail address into user and host, rejecting malformed ones."""
    user, at, host = mail.rpartition("@")
    if not at or not user or "@" in user:
        raise ValueError("need exactly one @")
    if "." not in host or host[0] == "." or host[-1] == ".":
        raise ValueError("bad host")
    return user, host.lower()


def overlapping_bookings(bookings: list[tuple[int, int]]) -> list[int]:
    """List the places of bookings that clash with an earlier one or are empty."""
    bad = []
    for i, (start, end) in enumerate(bookings):
        if start >= end:
            bad.append(i)
            continue
        if any(s < end and start < e for s, e in bookings[:i]):
            bad.append(i)
    return bad


def strictly_rising_from(values: list[int]) -> int:
    """Return the place of the first value not above its predecessor, or -1."""
    for i in range(1, len(values)):
        if values[i] <= values[i - 1]:
            return i
    return -1


def valid_permutation(order: list[int]) -> bool:
    """Tell if a list holds each number from zero up to its length once."""
    size = len(order)
    seen = [False] * size
    for value in order:
        if value < 0 or value >= size or seen[value]:
            return False
        seen[value] = True
    return True


def rectangular_shape(rows: list[list[int]]) -> tuple[int, int]:
    """Return height and width of a table whose rows must be equally long."""
    if not rows:
        return 0, 0
    width = len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"row {i} has {len(row)} cells")
    return len(rows), width


def clamp_settings(settings: dict[str, int], low: int, high: int) -> dict[str, int]:
    """Force every setting into the allowed range."""
    if low > high:
        raise ValueError("empty range")
    fixed = {}
    for name, value in settings.items():
        fixed[name] = min(max(value, low), high)
    return fixed


def first_bad_row(rows: list[str], sep: str, columns: int) -> int:
    """Return the line number of the first row with a wrong column count, or 0."""
    if not sep:
        raise ValueError("empty separator")
    for number, row in enumerate(rows, start=1):
        if row.startswith("#"):
            continue
        if row.count(sep) + 1 != columns:
            return number
    return 0


def ballot_valid(ranks: dict[str, int], seats: int) -> bool:
    """Check that ranks are distinct, start at one and leave no gap."""
    if len(ranks) > seats:
        return False
    used = sorted(ranks.values())
    for place, rank in enumerate(used):
        if rank != place + 1:
            return False
    return True


def dangling_references(links: dict[str, list[str]]) -> list[tuple[str, str]]:
    """List links that lead to an unknown page or to the page itself."""
    broken = []
    for page in sorted(links):
        for target in links[page]:
            if target == page or target not in links:
                broken.append((page, target))
    return broken


def balance_after(start: int, moves: list[int], floor: int) -> int:
    """Apply account moves, refusing those that go below the floor at a fee of one each."""
    balance = start
    refused = 0
    for move in moves:
        if move < 0 and balance + move < floor:
            refused += 1
        else:
            balance += move
    return balance - refused


def transition_errors(states: list[str], allowed: dict[str, list[str]]) -> int:
    """Count steps that the table of allowed transitions does not permit."""
    errors = 0
    current = None
    for state in states:
        if current is not None and state != current:
            if state not in allowed.get(current, []):
                errors += 1
        current = state
    return errors


def tolerance_report(values: list[int], target: int, slack: int) -> dict[str, int]:
    """Count measurements below, within and above a tolerance band."""
    report = {"low": 0, "ok": 0, "high": 0}
    for value in values:
        if value < target - slack:
            report["low"] += 1
        elif value > target + slack:
            report["high"] += 1
        else:
            report["ok"] += 1
    return report


def reject_outliers(values: list[int], factor: int) -> list[int]:
    """Drop values that lie further from the median than factor times the median distance."""
    if factor < 0:
        raise ValueError("negative factor")
    if len(values) < 3:
        return list(values)
    middle = sorted(values)[len(values) // 2]
    distances = sorted(abs(v - middle) for v in values)
    limit = factor * distances[len(distances) // 2]
    return [v for v in values if abs(v - middle) <= limit]


def valid_plate(plate: str) -> bool:
    """Tell if a plate has one to three letters, a dash and two to four digits."""
    dash = plate.find("-")
    if dash < 1 or dash > 3:
        return False
    letters, digits = plate[:dash], plate[dash + 1:]
    if not letters.isalpha() or letters != letters.upper():
        return False
    return digits.isdecimal() and 2 <= len(digits) <= 4


def valid_move(board: list[str], row: int, column: int) -> bool:
    """Tell if a cell is on the board, free and beside a taken one in its row."""
    if row < 0 or row >= len(board):
        return False
    line = board[row]
    if not 0 <= column < len(line) or line[column] != ".":
        return False
    left = column > 0 and line[column - 1] != "."
    right = column + 1 < len(line) and line[column + 1] != "."
    return left or right


def quota_exceeded(usage: dict[str, int], quota: dict[str, int], default: int) -> list[str]:
    """Name the users above their quota, the heaviest first."""
    over = []
    for user, amount in usage.items():
        excess = amount - quota.get(user, default)
        if excess > 0:
            over.append((-excess, user))
    return [user for _, user in sorted(over)]


def checked_average(scores: list[int], low: int, high: int) -> int:
    """Average the scores in range, rounded down; too many invalid ones are an error."""
    valid = [s for s in scores if low <= s <= high]
    invalid = len(scores) - len(valid)
    if invalid > len(valid):
        raise ValueError("too many invalid scores")
    if not valid:
        return 0
    return sum(valid) // len(valid)


def sequence_gaps(numbers: list[int]) -> list[int]:
    """List the numbers missing between the smallest and the largest."""
    if not numbers:
        return []
    have = set(numbers)
    gaps = []
    n = min(numbers) + 1
    while n < max(numbers):
        if n not in have:
            gaps.append(n)
        n += 1
    return gaps


def isbn_like_ok(code: str) -> bool:
    """Check a ten-place code whose last place may be X for ten."""
    places = code.replace("-", "")
    if len(places) != 10:
        return False
    total = 0
    for i, ch in enumerate(places):
        if ch == "X" and i == 9:
            value = 10
        elif "0" <= ch <= "9":
            value = int(ch)
        else:
            return False
        total += (10 - i) * value
    return total % 11 == 0


def majority_value(readings: list[int], quorum: int) -> int | None:
    """Return the reading that at least a quorum of sensors and more than half agree on."""
    if quorum < 1:
        raise ValueError("quorum must be positive")
    for reading in readings:
        votes = readings.count(reading)
        if votes >= quorum and 2 * votes > len(readings):
            return reading
    return None


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "password_problems": [("Abcdef12", 8), ("abc", 4), ("", 0), ("ABC", 3), ("abcd1", 6), ("x9Y", 3)],
    "weighted_check_ok": [("132", 10), ("12", 4), ("", 5), ("1a", 3), ("121", 8), ("5", 0), ("7", 1),
        ("90", 9)],
    "alternating_check_digit": [([4, 0, 0, 6],), ([],), ([9, 9],), ([10],), ([1, -1],), ([0, 3, 1],)],
    "valid_date": [(2024, 2, 29), (2023, 2, 29), (1900, 2, 29), (2000, 2, 29), (2021, 4, 31),
        (2021, 12, 31), (2021, 13, 1),
        (0, 1, 1), (1, 1, 1), (2021, 0, 5), (2021, 11, 30), (2021, 5, 0), (2022, 2, 28), (2021, 3, 32)],
    "valid_ipv4": [("192.168.0.1",), ("1.2.3",), ("256.1.1.1",), ("01.2.3.4",), ("255.255.255.255",),
        ("a.1.1.1",), ("1.1.1.0001",)],
    "missing_keys": [({"a": "1", "b": " "}, ["a", "b", "c"]), ({}, ["x", "x"]), ({"q": "r"}, []),
        ({"k": "v"}, ["k"]), ({}, [])],
    "valid_identifier": [("abc_1", 5), ("abc_1", 4), ("", 3), ("1abc", 9), ("a-b", 9), ("_x", 5), ("z", 1)],
    "split_address": [("Bo@Host.Org", ), ("a@b",), ("x.y",), ("@a.b",), ("p@q@r.s",), ("a@.b",),
        ("a@b.",), ("a@",)],
    "overlapping_bookings": [([(1, 3), (2, 4), (3, 5)],), ([],), ([(2, 2)],), ([(1, 9), (3, 4)],),
        ([(5, 6), (4, 5), (6, 1)],),
        ([(0, 2), (2, 4), (4, 6)],)],
    "strictly_rising_from": [([1, 2, 2],), ([],), ([5],), ([3, 1],), ([1, 2, 3],), ([-4, -3, -5, 0],)],
    "valid_permutation": [([2, 0, 1],), ([],), ([0, 0],), ([1, 2],), ([-1, 0],), ([0],)],
    "rectangular_shape": [([[1, 2], [3, 4], [5, 6]],), ([],), ([[]],), ([[1], [2, 3]],), ([[1, 2, 3]],)],
    "clamp_settings": [({"a": 5, "b": -1, "c": 2}, 0, 4), ({}, 0, 1), ({"x": 1}, 3, 2), ({"x": 9}, 2, 2),
        ({"y": 4}, 1, 4)],
    "first_bad_row": [(["a,b", "#x", "c"], ",", 2), ([], ",", 3), (["a"], "", 1), (["a;b;c"], ";", 3),
        (["x", ""], ",", 1),
        (["a,b", "c,d", "e"], ",", 1)],
    "ballot_valid": [({"a": 2, "b": 1}, 3), ({"a": 1, "b": 1}, 3), ({}, 0), ({"a": 1, "b": 2}, 1),
        ({"a": 0}, 2), ({"a": 1}, 1)],
    "dangling_references": [({"b": ["a", "x"], "a": ["a", "b"]},), ({},), ({"p": []},),
        ({"p": ["q"], "q": ["p"]},), ({"z": ["z"]},)],
    "balance_after": [(10, [-4, -7, 2], 0), (5, [-5], 0), (0, [], 3), (1, [-1, -1, -1], 0),
        (-9, [4, -1], -8), (2, [0, 3], 9)],
    "transition_errors": [(["a", "b", "c"], {"a": ["b"]}), ([], {}), (["x", "x"], {}),
        (["p", "q", "p", "q"], {"q": ["p"]}),
        (["a", "b"], {"a": ["b"]}), (["a"], {"a": []})],
    "tolerance_report": [([1, 5, 9, 7, 3], 5, 2), ([], 0, 1), ([4, 4], 4, 0), ([0, 10], 5, 4),
        ([-3, -9, 2], -4, 1)],
    "reject_outliers": [([1, 2, 3, 50], 2), ([5, 90], 1), ([], 3), ([4, 4, 9], 5), ([1, 2, 3], -1),
        ([1, 3, 5, 7], 1), ([1, 2, 9], 0), ([-3, 5], 0), ([0, 1, 1, 4], 4)],
    "valid_plate": [("AB-123",), ("A-12",), ("ABCD-12",), ("-12",), ("ab-12",), ("XYZ-12345",), ("Q-1",),
        ("Q-1234",), ("A1-22",)],
    "valid_move": [(["x..", "..."], 0, 1), (["x.."], 0, 2), (["x.."], 0, 0), (["..x"], 0, 1),
        (["."], 1, 0), ([], 0, 0),
        (["x."], -1, 1), (["x."], 0, 2), (["o..x"], 0, -2), ([".x"], 0, 0)],
    "quota_exceeded": [({"a": 5, "b": 9, "c": 3}, {"a": 4}, 3), ({}, {}, 0), ({"x": 2, "y": 2}, {}, 1),
        ({"x": 1}, {"x": 1}, 0),
        ({"p": 7, "q": 8}, {"p": 0, "q": 9}, 5)],
    "checked_average": [([1, 5, 10], 1, 10), ([0, 11, 5], 1, 10), ([], 0, 9), ([3, 40], 0, 10),
        ([-3, -4], -5, 0), ([7, 8, 99], 7, 8)],
    "sequence_gaps": [([3, 7, 5],), ([],), ([4],), ([2, 3],), ([-1, 2, 2],), ([9, 6],)],
    "isbn_like_ok": [("0-306-40615-2",), ("0306406153",), ("080442957X",), ("12345",), ("X000000000",),
        ("030640615a",),
        ("0000000000",)],
    "majority_value": [([1, 2, 1], 2), ([1, 2], 1), ([], 1), ([4], 0), ([3, 3, 3], 4), ([5, 6, 6, 6], 3),
        ([7], 1), ([2, 2, 8, 8], 2)],
}
