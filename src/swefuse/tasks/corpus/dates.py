"""Corpus, topic `dates`: calendar arithmetic, clock times and durations."""


def month_length(year: int, month: int) -> int:
    """Give the number of days in a month of the Gregorian calendar."""
    if not 1 <= month <= 12:
        raise ValueError(f"no month {month}")
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 29 if leap else 28
    return 30 if month in (4, 6, 9, 11) else 31


def day_of_year(month: int, day: int, leap: bool) -> int:
    """Number a day within its year, starting from 1."""
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if month < 1 or month > 12 or day < 1 or day > lengths[month - 1]:
        raise ValueError("no such day")
    return sum(lengths[: month - 1]) + day


def add_months(year: int, month: int, count: int) -> tuple[int, int]:
    """Move a year and month forward or back by a number of months."""
    if month < 1 or month > 12:
        raise ValueError("month out of range")
    index = year * 12 + (month - 1) + count
    return index // 12, index % 12 + 1


def parse_clock(text: str) -> int:
    """Turn a clock time such as `07:45` into minutes since midnight."""
    hours, colon, minutes = text.strip().partition(":")
    if not colon or not (hours + minutes).isdigit():
        raise ValueError(f"bad time {text!r}")
    hour, minute = int(hours), int(minutes)
    if hour > 23 or minute > 59:
        raise ValueError(f"time out of range {text!r}")
    return hour * 60 + minute


def format_duration(seconds: int) -> str:
    """Write a number of seconds as hours, minutes and seconds without empty units."""
    if seconds == 0:
        return "0s"
    sign = "-" if seconds < 0 else ""
    rest = abs(seconds)
    parts = []
    for unit, size in (("h", 3600), ("m", 60), ("s", 1)):
        amount, rest = divmod(rest, size)
        if amount > 0:
            parts.append(f"{amount}{unit}")
    return sign + " ".join(parts)


def twelve_hour(minutes: int) -> str:
    """Show minutes since midnight as a twelve-hour clock time."""
    hour, minute = divmod(minutes % 1440, 60)
    suffix = "am" if hour < 12 else "pm"
    if hour == 0:
        hour = 12
    elif hour > 12:
        hour -= 12
    return f"{hour}:{minute:02d} {suffix}"


def minutes_until(now: int, target: int) -> int:
    """Count the minutes from one time of day to the next occurrence of another."""
    day = 24 * 60
    if not (0 <= now < day and 0 <= target < day):
        raise ValueError("not a time of day")
    wait = target - now
    if wait < 0:
        wait += day
    return wait


def weekday_after(start: int, days: int) -> str:
    """Name the weekday a number of days after a weekday, with Monday as 0."""
    names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    if start < 0 or start >= len(names):
        raise IndexError("weekday must lie between 0 and 6")
    return names[(start + days) % len(names)]


def add_workdays(weekday: int, count: int) -> int:
    """Count the calendar days that pass until the given number of working days is done."""
    passed = 0
    current = weekday % 7
    remaining = count
    while remaining > 0:
        current = (current + 1) % 7
        passed += 1
        if current < 5:
            remaining -= 1
    return passed


def weekend_days(first_weekday: int, length: int) -> int:
    """Count Saturdays and Sundays in a month given the weekday of its first day, Monday being 0."""
    found = 0
    for offset in range(length):
        weekday = (first_weekday + offset) % 7
        if weekday >= 5:
            found += 1
    return found


def nth_weekday(first_weekday: int, weekday: int, nth: int, length: int) -> int:
    """Find the date of the n-th given weekday of a month."""
    if nth < 1:
        raise ValueError("counting starts at one")
    offset = (weekday - first_weekday) % 7
    date = 1 + offset + 7 * (nth - 1)
    if date > length:
        raise ValueError("the month has no such day")
    return date


def age_on(born: tuple[int, int, int], today: tuple[int, int, int]) -> int:
    """Give the age in full years, dates being year, month and day."""
    if today < born:
        return 0
    years = today[0] - born[0]
    if today[1:] < born[1:]:
        years -= 1
    return years


def month_calendar(first_weekday: int, length: int) -> list[str]:
    """Lay out the days of a month in week rows of seven columns."""
    cells = ["  "] * (first_weekday % 7)
    for day in range(1, length + 1):
        cells.append(f"{day:2d}")
    rows = []
    for start in range(0, len(cells), 7):
        rows.append(" ".join(cells[start:start + 7]).rstrip())
    return rows


def split_period(days: int) -> dict[str, int]:
    """Break a number of days into years of 365, months of 30, weeks and days."""
    if days < 0:
        raise ValueError("negative period")
    result: dict[str, int] = {}
    for name, size in [("years", 365), ("months", 30), ("weeks", 7)]:
        if days >= size:
            result[name] = days // size
            days %= size
    result["days"] = days
    return result


def longest_streak(days: list[int]) -> int:
    """Find the most consecutive day numbers present in a log."""
    logged = set(days)
    best = 0
    for day in logged:
        if day - 1 in logged:
            continue
        length = 1
        while day + length in logged:
            length += 1
        best = max(best, length)
    return best


def week_of_month(day: int, first_weekday: int) -> int:
    """Tell in which week row of the month a day falls, counting from one."""
    if day < 1:
        raise ValueError("days start at one")
    if day > 31:
        return 0
    shift = first_weekday % 7
    return (day + shift - 1) // 7 + 1


def shift_zone(hour: int, offset: int, home_offset: int) -> tuple[int, int]:
    """Convert an hour from one zone to another, with the change of day."""
    local = hour - offset + home_offset
    day = 0
    while local < 0:
        local += 24
        day -= 1
    while local >= 24:
        local -= 24
        day += 1
    return local, day


def iso_to_slashes(text: str) -> str:
    """Rewrite a date like 2024-03-09 as 9/3/24, leaving anything else alone."""
    pieces = text.split("-")
    if len(pieces) != 3 or not all(piece.isdigit() for piece in pieces):
        return text
    year, month, day = (int(piece) for piece in pieces)
    if month > 12 or day > 31 or year < 1000:
        return text
    return f"{day}/{month}/{year % 100:02d}"


def overtime_minutes(shifts: list[tuple[int, int]], limit: int) -> int:
    """Add up what each shift runs over the limit, shifts may pass midnight."""
    over = 0
    for start, end in shifts:
        length = end - start
        if length < 0:
            length += 1440
        if length > limit:
            over += length - limit
    return over


def next_leap(year: int) -> int:
    """Find the first leap year after the given one."""
    candidate = year + 1
    while True:
        if candidate % 400 == 0:
            break
        if candidate % 4 == 0 and candidate % 100 != 0:
            break
        candidate += 1
    return candidate


def quarter_bounds(month: int, fiscal_start: int) -> tuple[int, int, int]:
    """Give the fiscal quarter of a month and its first and last month."""
    if not (1 <= month <= 12 and 1 <= fiscal_start <= 12):
        raise ValueError("no such month")
    steps = (month - fiscal_start) % 12
    quarter = steps // 3 + 1
    first = (fiscal_start - 1 + (quarter - 1) * 3) % 12 + 1
    last = (first + 1) % 12 + 1
    return quarter, first, last


def describe_gap(days: int) -> str:
    """Phrase a distance in days the way people say it."""
    if days == 0:
        return "today"
    if abs(days) == 1:
        return "tomorrow" if days > 0 else "yesterday"
    amount, unit = abs(days), "day"
    if amount >= 7:
        amount, unit = amount // 7, "week"
    plural = "s" if amount > 1 else ""
    return f"in {amount} {unit}{plural}" if days > 0 else f"{amount} {unit}{plural} ago"


def busiest_month(dates: list[tuple[int, int]]) -> int | None:
    """Name the month with the most distinct dates, the earliest on a tie."""
    if not dates:
        return None
    counts: dict[int, int] = {}
    for month, _day in set(dates):
        counts[month] = counts.get(month, 0) + 1
    top = max(counts.values())
    return min(month for month, count in counts.items() if count == top)


def to_milliseconds(text: str) -> int:
    """Read a duration such as `2s` or `150ms` or `1m` in milliseconds."""
    factors = {"ms": 1, "s": 1000, "m": 60000}
    digits = 0
    while digits < len(text) and text[digits].isdecimal():
        digits += 1
    unit = text[digits:].strip() or "ms"
    if digits == 0 or unit not in factors:
        raise ValueError(f"cannot read {text!r}")
    return int(text[:digits]) * factors[unit]


def missing_days(days: list[int], first: int, last: int) -> list[int]:
    """List the day numbers of a period that the log lacks."""
    if first > last:
        return []
    gaps = []
    seen = sorted(days)
    position = 0
    for day in range(first, last + 1):
        while position < len(seen) and seen[position] < day:
            position += 1
        if position == len(seen) or seen[position] != day:
            gaps.append(day)
    return gaps


def hands_angle(hour: int, minute: int) -> float:
    """Give the smaller angle in degrees between the hands of a clock."""
    if minute < 0 or minute >= 60:
        raise ValueError("minutes run from 0 to 59")
    hour_hand = hour % 12 * 30 + minute * 0.5
    difference = abs(hour_hand - minute * 6)
    if difference > 180:
        difference = 360 - difference
    return difference


def recurring_dates(start: int, every: int, until: int, skip: list[int]) -> list[int]:
    """List at most eight days of a repeating event, leaving out the skipped ones."""
    if every <= 0:
        raise ValueError("interval must be positive")
    found = []
    day = start
    while day <= until and len(found) < 8:
        if day not in skip:
            found.append(day)
        day += every
    return found


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "month_length": [(2023, 2), (2024, 2), (1900, 2), (2000, 2), (2021, 4), (2021, 12), (2021, 1), (2021, 13),
        (2021, 0), (7, 11)],
    "day_of_year": [(1, 1, False), (3, 1, True), (2, 29, False), (12, 31, False), (0, 4, True),
        (13, 1, False), (5, 0, True), (2, 28, False)],
    "add_months": [(2024, 11, 2), (2024, 12, 0), (2024, 1, -1), (2020, 6, 30), (2020, 0, 1), (2020, 13, 1)],
    "parse_clock": [("07:45",), ("23:59",), ("24:00",), ("11:60",), ("noon",), (" 0:05 ",), ("a:10",),
        ("10:",)],
    "format_duration": [(0,), (59,), (60,), (3661,), (-7325,), (7200,), (1,)],
    "twelve_hour": [(0,), (720,), (779,), (780,), (1439,), (-5,), (65,)],
    "minutes_until": [(600, 630), (630, 600), (5, 5), (0, 1439), (1440, 3), (-1, 4), (7, 1440), (9, -2),
        (60, 0)],
    "weekday_after": [(0, 3), (6, 1), (2, -3), (5, 14), (7, 1), (-1, 2)],
    "add_workdays": [(0, 3), (4, 1), (5, 1), (2, 12), (3, 0), (9, 5)],
    "weekend_days": [(0, 31), (5, 28), (6, 29), (4, 1), (3, 3), (5, 0)],
    "nth_weekday": [(2, 4, 1, 30), (2, 0, 3, 30), (3, 3, 5, 29), (3, 3, 5, 28), (0, 6, 0, 31), (4, 4, 1, 30)],
    "age_on": [((1990, 5, 20), (2020, 5, 20)), ((1990, 5, 20), (2020, 5, 19)), ((2000, 1, 1), (1999, 1, 1)),
        ((1985, 11, 2), (2001, 3, 30)), ((2000, 2, 3), (2000, 2, 3)), ((2010, 4, 9), (2011, 6, 1))],
    "month_calendar": [(0, 7), (3, 10), (6, 2), (8, 0), (7, 8), (2, 14)],
    "split_period": [(-1,), (0,), (365,), (364,), (409,), (30,), (6,), (7,), (-3,)],
    "longest_streak": [([],), ([4],), ([3, 1, 2, 7],), ([5, 5, 6, 9, 10, 11, 12],), ([8, 6, 4],)],
    "week_of_month": [(1, 0), (7, 0), (8, 0), (1, 6), (2, 6), (31, 3), (32, 3), (0, 3)],
    "shift_zone": [(10, 1, 9), (20, -5, 3), (3, 8, 1), (23, 0, 1), (0, 0, 0), (2, 30, 3), (50, 0, 1)],
    "iso_to_slashes": [("2024-03-09",), ("2024-13-01",), ("0999-01-01",), ("2024-12-31",), ("2024-01-32",),
        ("1-2",), ("2024-x-01",), ("1000-10-30",)],
    "overtime_minutes": [([(9, 8)], 1400), ([], 480), ([(480, 1000)], 480), ([(1320, 420), (60, 540)], 480),
        ([(0, 480)], 480), ([(5, 5), (900, 960)], 30)],
    "next_leap": [(2023,), (2024,), (1896,), (1999,), (2096,), (0,)],
    "quarter_bounds": [(1, 1), (12, 1), (3, 4), (4, 4), (11, 10), (0, 3), (5, 13), (13, 2), (5, 0), (12, 11)],
    "describe_gap": [(0,), (1,), (-1,), (5,), (-7,), (14,), (6,), (-30,), (2,)],
    "busiest_month": [([],), ([(8, 1), (8, 2), (5, 1)],), ([(7, 1), (7, 1), (2, 9)],), ([(4, 4)],),
        ([(9, 1), (9, 2), (6, 1), (6, 3), (6, 8)],)],
    "to_milliseconds": [("2s",), ("150ms",), ("1m",), ("40",), ("s",), ("7h",), ("3 s",)],
    "missing_days": [([4], 6, 6), ([2, 4], 1, 5), ([], 3, 4), ([1, 2, 3], 2, 2), ([9, 1], 4, 2),
        ([5, 5, 3], 3, 6)],
    "hands_angle": [(6, 1), (12, 33), (0, 32), (3, 0), (12, 0), (9, 0), (6, 0), (10, 10), (15, 59), (4, 60),
        (4, -1)],
    "recurring_dates": [(1, 7, 29, [8]), (5, 3, 4, []), (2, 2, 6, [6, 2]), (0, 0, 9, []), (3, 1, 3, []),
        (1, 2, 40, [3])],
}
