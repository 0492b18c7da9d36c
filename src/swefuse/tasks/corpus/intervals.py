"""Corpus, topic `intervals`: merging, clipping and measuring ranges."""


def clip_to_window(low: int, high: int, start: int, stop: int) -> tuple[int, int] | None:
    """Cut a range to a window, or give None when nothing of it is left."""
    if low > high or start > stop:
        raise ValueError("reversed range")
    left = low if low > start else start
    right = high if high < stop else stop
    if left > right:
        return None
    return left, right


def merge_touching(ranges: list[tuple[int, int]], slack: int) -> list[tuple[int, int]]:
    """Join ranges that overlap or lie at most slack apart, sorted by start."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low - merged[-1][1] <= slack:
            last_low, last_high = merged.pop()
            merged.append((last_low, max(last_high, high)))
        else:
            merged.append((low, high))
    return merged


def covered_length(ranges: list[tuple[int, int]]) -> int:
    """Measure how much of the line is covered by half-open ranges."""
    if not ranges:
        return 0
    ordered = sorted(ranges)
    total = 0
    reach = ordered[0][0]
    for low, high in ordered:
        begin = max(low, reach)
        if high > begin:
            total += high - begin
            reach = high
    return total


def overlap_length(first: tuple[int, int], second: tuple[int, int]) -> int:
    """Count the integers that two closed ranges share."""
    if first[0] > first[1] or second[0] > second[1]:
        raise ValueError("reversed range")
    low = max(first[0], second[0])
    high = min(first[1], second[1])
    return max(0, high - low + 1)


def peak_depth(ranges: list[tuple[int, int]]) -> tuple[int, int]:
    """Give the largest number of half-open ranges open at once and where that first happens."""
    events: list[tuple[int, int]] = []
    for low, high in ranges:
        if low < high:
            events.append((low, 1))
            events.append((high, -1))
    depth = best = 0
    place = 0
    for position, change in sorted(events):
        depth += change
        if depth > best:
            best = depth
            place = position
    return best, place


def carve_out(whole: tuple[int, int], hole: tuple[int, int]) -> list[tuple[int, int]]:
    """List what remains of a half-open range once a hole is removed from it."""
    start, stop = whole
    cut_from, cut_to = hole
    if cut_to <= start or cut_from >= stop or cut_from >= cut_to:
        return [whole]
    pieces = []
    if cut_from > start:
        pieces.append((start, cut_from))
    if cut_to < stop:
        pieces.append((cut_to, stop))
    return pieces


def common_ranges(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Intersect two sorted lists of closed ranges."""
    i = j = 0
    shared = []
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low <= high:
            shared.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared


def split_at(low: int, high: int, cuts: list[int]) -> list[tuple[int, int]]:
    """Break a half-open range into pieces at every cut that lies strictly inside it."""
    if low >= high:
        return []
    inside = sorted({cut for cut in cuts if low < cut < high})
    edges = [low] + inside + [high]
    return list(zip(edges[:-1], edges[1:]))


def locate_segment(starts: list[int], value: int) -> int:
    """Find the index of the last sorted start not above the value, or -1."""
    lo, hi = 0, len(starts)
    while lo < hi:
        middle = (lo + hi) // 2
        if starts[middle] <= value:
            lo = middle + 1
        else:
            hi = middle
    return lo - 1


def widest_gap(ranges: list[tuple[int, int]]) -> int:
    """Measure the widest uncovered stretch between the given ranges."""
    if len(ranges) < 2:
        return 0
    ordered = sorted(ranges)
    reach = ordered[0][1]
    widest = 0
    for low, high in ordered[1:]:
        widest = max(widest, low - reach)
        if high > reach:
            reach = high
    return widest


def pad_ranges(ranges: list[tuple[int, int]], margin: int, floor: int) -> list[tuple[int, int]]:
    """Grow every range by a margin on both sides, never going below the floor."""
    if margin < 0:
        raise ValueError(f"negative margin {margin}")
    padded = []
    for low, high in ranges:
        if high < floor:
            continue
        padded.append((max(floor, low - margin), high + margin))
    return padded


def describe_runs(numbers: list[int]) -> str:
    """Write the numbers as text such as `1-3, 7`, joining consecutive ones."""
    parts: list[str] = []
    ordered = sorted(set(numbers))
    i = 0
    while i < len(ordered):
        j = i
        while j + 1 < len(ordered) and ordered[j + 1] == ordered[j] + 1:
            j += 1
        if j > i:
            parts.append(f"{ordered[i]}-{ordered[j]}")
        else:
            parts.append(str(ordered[i]))
        i = j + 1
    return ", ".join(parts)


def parse_pages(text: str) -> list[int]:
    """Expand a page selection such as `2,5-7` to sorted distinct page numbers."""
    pages: set[int] = set()
    for chunk in text.split(","):
        chunk = chunk.strip()
        if not chunk:
            continue
        first, dash, last = chunk.partition("-")
        low = int(first)
        high = int(last) if dash else low
        if low > high or high - low > 20:
            raise ValueError(f"bad page range {chunk}")
        pages.update(range(low, high + 1))
    return sorted(pages)


def relation(first: tuple[int, int], second: tuple[int, int]) -> str:
    """Name how the first half-open range lies to the second."""
    a, b = first
    c, d = second
    if a == c and b == d:
        return "equal"
    if b < c or d < a:
        return "apart"
    if b == c or d == a:
        return "touching"
    if c <= a and b <= d:
        return "inside"
    return "around" if a <= c and d <= b else "crossing"


def hits_per_range(ranges: list[tuple[int, int]], points: list[int]) -> list[int]:
    """Count for every half-open range the points that fall in it."""
    hits = [0] * len(ranges)
    for point in points:
        for index, (low, high) in enumerate(ranges):
            if low <= point < high:
                hits[index] += 1
    return hits


def drop_contained(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep only ranges that no other kept range contains, sorted by start."""
    kept: list[tuple[int, int]] = []
    for low, high in sorted(ranges, key=lambda r: (r[0], -r[1])):
        if not kept or high > kept[-1][1]:
            kept.append((low, high))
    return kept


def snap_outward(low: int, high: int, step: int) -> tuple[int, int]:
    """Extend a range so that both ends are multiples of the step."""
    if step <= 0:
        raise ValueError("step must be positive")
    if low > high:
        low, high = high, low
    start = low // step * step
    stop = -(-high // step) * step
    if start == stop:
        stop += step
    return start, stop


def even_chunks(length: int, parts: int) -> list[tuple[int, int]]:
    """Cut the range from 0 to length into parts whose sizes differ by at most one."""
    if parts <= 0 or length < 0:
        raise ValueError("need a length and at least one part")
    size, extra = divmod(length, parts)
    chunks = []
    begin = 0
    for number in range(parts):
        end = begin + size + (1 if number < extra else 0)
        chunks.append((begin, end))
        begin = end
    return chunks


def push_apart(ranges: list[tuple[int, int]], spacing: int) -> list[tuple[int, int]]:
    """Move later ranges right until each begins at least spacing after the one before."""
    placed: list[tuple[int, int]] = []
    earliest: int | None = None
    for low, high in ranges:
        width = high - low
        if earliest is not None and low < earliest:
            low = earliest
        placed.append((low, low + width))
        earliest = low + width + spacing
    return placed


def nearest_range(ranges: list[tuple[int, int]], value: int) -> int | None:
    """Give the index of the closed range closest to the value, the earlier one on a tie."""
    best_index, best_distance = None, 0
    for index, (low, high) in enumerate(ranges):
        if low <= value <= high:
            return index
        distance = low - value if value < low else value - high
        if best_index is None or distance < best_distance:
            best_index, best_distance = index, distance
    return best_index


def stabbing_points(ranges: list[tuple[int, int]]) -> list[int]:
    """Choose few points so that every closed range contains at least one of them."""
    points: list[int] = []
    for low, high in sorted(ranges, key=lambda r: r[1]):
        if low > high:
            raise ValueError("reversed range")
        if points and points[-1] >= low:
            continue
        points.append(high)
    return points


def cover_with_fewest(ranges: list[tuple[int, int]], start: int, stop: int) -> int:
    """Count the fewest ranges that together cover start to stop, or give -1."""
    used = 0
    reach = start
    while reach < stop:
        candidates = [high for low, high in ranges if low <= reach < high]
        if not candidates:
            return -1
        reach = max(candidates)
        used += 1
    return used


def uncovered_cells(ranges: list[tuple[int, int]], size: int) -> list[int]:
    """List the cells from 0 below size that no closed range touches."""
    taken = [False] * max(size, 0)
    for low, high in ranges:
        for cell in range(max(low, 0), min(high + 1, size)):
            taken[cell] = True
    return [cell for cell, used in enumerate(taken) if not used]


def depth_profile(ranges: list[tuple[int, int]], size: int) -> list[int]:
    """Tell for each cell below size how many half-open ranges cover it."""
    if size <= 0:
        return []
    change = [0] * (size + 1)
    for low, high in ranges:
        low, high = max(low, 0), min(high, size)
        if low < high:
            change[low] += 1
            change[high] -= 1
    profile, depth = [], 0
    for step in change[:size]:
        depth += step
        profile.append(depth)
    return profile


def similarity_percent(first: tuple[int, int], second: tuple[int, int]) -> int:
    """Give shared length as a percentage of the joint length, -1 when apart, 100 when both are empty."""
    shared = min(first[1], second[1]) - max(first[0], second[0])
    length_sum = first[1] - first[0] + second[1] - second[0]
    if shared < 0:
        return -1
    if length_sum <= shared:
        return 100
    return 100 * shared // (length_sum - shared)


def on_dial(start: int, stop: int, value: int, size: int) -> bool:
    """Tell whether a value lies on the closed arc from start to stop of a circular dial."""
    if size < 1:
        raise ValueError("empty dial")
    start, stop, value = start % size, stop % size, value % size
    if start <= stop:
        return start <= value <= stop
    return value >= start or value <= stop


def first_conflict(ranges: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Give the indices of the first two ranges that overlap, touching ends aside."""
    for later in range(1, len(ranges)):
        for earlier in range(later):
            if ranges[earlier][0] < ranges[later][1] and ranges[later][0] < ranges[earlier][1]:
                return earlier, later
    return None


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "clip_to_window": [(1, 9, 3, 6), (4, 5, 2, 8), (1, 3, 3, 7), (1, 2, 3, 7), (5, 1, 0, 9), (1, 5, 9, 8),
        (2, 2, 2, 2)],
    "merge_touching": [([], 0), ([(5, 9), (1, 3)], 2), ([(1, 3), (5, 9)], 1), ([(1, 8), (2, 4), (9, 9)], 0),
        ([(4, 4), (4, 6), (6, 7), (12, 13)], 0)],
    "covered_length": [([],), ([(2, 7)],), ([(1, 5), (3, 9), (12, 14)],), ([(1, 9), (2, 4), (8, 10)],),
        ([(-4, 2), (2, 6)],)],
    "overlap_length": [((1, 5), (3, 9)), ((1, 3), (3, 4)), ((1, 2), (5, 9)), ((5, 2), (0, 9)),
        ((0, 9), (4, 3)), ((4, 4), (1, 8))],
    "peak_depth": [([],), ([(1, 4), (2, 6), (3, 5)],), ([(1, 3), (3, 5)],), ([(2, 2), (9, 4)],),
        ([(7, 9), (0, 8)],)],
    "carve_out": [((0, 9), (3, 5)), ((0, 9), (9, 12)), ((2, 8), (0, 2)), ((2, 8), (2, 8)), ((2, 8), (5, 5)),
        ((2, 8), (2, 5)), ((2, 8), (6, 8))],
    "common_ranges": [([], [(1, 2)]), ([(0, 4), (6, 9)], [(3, 7)]), ([(0, 2)], [(2, 5)]),
        ([(0, 1), (8, 9)], [(3, 5)]), ([(0, 3), (5, 8)], [(1, 3), (3, 6)])],
    "split_at": [(0, 10, [3, 7]), (0, 10, [10, 0]), (5, 5, [5]), (2, 6, [4, 4, 3]), (7, 2, [3]), (1, 4, [])],
    "locate_segment": [([], 4), ([1, 5, 9], 5), ([1, 5, 9], 0), ([1, 5, 9], 40), ([2, 2, 2, 8], 2)],
    "widest_gap": [([],), ([(7, 9), (1, 3)],), ([(1, 2)],), ([(1, 2), (6, 8), (9, 20)],),
        ([(1, 12), (2, 3), (14, 15)],), ([(0, 4), (2, 7)],)],
    "pad_ranges": [([(3, 5), (9, 9)], 2, 2), ([(0, 1)], 1, 2), ([(0, 2)], 0, 2), ([], 3, 0),
        ([(4, 5)], -1, 0)],
    "describe_runs": [([],), ([7],), ([1, 2, 3, 7],), ([9, 3, 8, 4, 4],), ([-1, 0, 2, 5, 6],)],
    "parse_pages": [("2,5-7",), ("",), (" 4 ,, 3-3",), ("3-23",), ("3-24",), ("9-5",), ("x",), ("8-9,7-8",)],
    "relation": [((1, 4), (1, 9)), ((1, 9), (5, 9)), ((1, 3), (1, 3)), ((1, 3), (4, 6)), ((4, 6), (1, 4)),
        ((2, 3), (1, 3)), ((1, 9), (1, 5)), ((1, 5), (3, 8)), ((4, 6), (1, 3)), ((1, 3), (3, 5))],
    "hits_per_range": [([(0, 3), (3, 6)], [0, 3, 5, 6]), ([], [1]), ([(4, 9)], []), ([(2, 2)], [2]),
        ([(-3, 1)], [-3, 0, 0])],
    "drop_contained": [([],), ([(1, 9), (2, 4)],), ([(1, 4), (1, 6), (3, 8)],), ([(2, 5), (2, 5)],),
        ([(5, 6), (0, 5)],)],
    "snap_outward": [(3, 4, 1), (3, 8, 5), (10, 20, 5), (5, 5, 5), (9, 2, 4), (1, 2, 0), (-7, -1, 3)],
    "even_chunks": [(3, 1), (10, 3), (4, 4), (2, 5), (0, 2), (5, 0), (-1, 2), (11, 4)],
    "push_apart": [([], 1), ([(0, 4), (2, 5), (6, 7)], 1), ([(0, 2), (3, 5)], 1),
        ([(1, 1), (1, 3), (9, 9)], 0), ([(5, 8), (0, 2)], 2)],
    "nearest_range": [([], 3), ([(1, 9), (5, 6)], 5), ([(4, 9), (2, 4)], 4), ([(2, 4), (4, 9)], 4),
        ([(0, 2), (6, 9)], 4), ([(0, 2), (6, 9)], 9), ([(0, 1), (5, 6)], 4), ([(8, 9), (1, 2)], 3),
        ([(5, 7)], 5)],
    "stabbing_points": [([],), ([(1, 4), (2, 6), (4, 9)],), ([(1, 2), (3, 4)],), ([(0, 9), (2, 3), (5, 6)],),
        ([(4, 2)],), ([(3, 3)],)],
    "cover_with_fewest": [([(0, 4), (3, 8), (2, 5)], 0, 8), ([(0, 4), (5, 8)], 0, 8), ([], 2, 2),
        ([(0, 4), (4, 6)], 0, 6), ([(1, 9)], 1, 9)],
    "uncovered_cells": [([(1, 2), (5, 5)], 7), ([], 3), ([(-4, 0), (3, 9)], 4), ([(2, 1)], 3),
        ([(0, 5)], -2)],
    "depth_profile": [([(0, 3), (2, 5)], 6), ([], 2), ([(-2, 1), (3, 9)], 4), ([(2, 2)], 3), ([(0, 4)], 0)],
    "similarity_percent": [((0, 10), (5, 15)), ((0, 4), (4, 8)), ((0, 3), (1, 9)), ((2, 6), (2, 6)),
        ((5, 5), (5, 5)), ((9, 8), (9, 7))],
    "on_dial": [(0, 0, 3, 1), (2, 8, 8, 12), (10, 3, 1, 12), (10, 3, 10, 12), (10, 3, 3, 12), (10, 3, 6, 12),
        (1, 2, 0, 0)],
    "first_conflict": [([],), ([(5, 7), (2, 5)],), ([(0, 3), (3, 5)],), ([(0, 3), (5, 8), (2, 4)],),
        ([(5, 8), (1, 6)],), ([(2, 9), (3, 4)],)],
}
