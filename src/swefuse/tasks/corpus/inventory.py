"""Corpus, topic `inventory`: stock levels, picking, packing and reordering."""


def reorder_list(stock: dict[str, int], minimum: dict[str, int]) -> list[str]:
    """List the items whose stock lies under their minimum, the scarcest first."""
    short = []
    for item, least in minimum.items():
        missing = least - stock.get(item, 0)
        if missing > 0:
            short.append((-missing, item))
    return [item for _missing, item in sorted(short)]


def apply_moves(stock: dict[str, int], moves: list[tuple[str, int]]) -> dict[str, int]:
    """Book deliveries and withdrawals, dropping items that end at zero."""
    result = dict(stock)
    for item, amount in moves:
        result[item] = result.get(item, 0) + amount
        if result[item] < 0:
            raise ValueError(f"not enough {item}")
        if result[item] == 0:
            del result[item]
    return result


def boxes_needed(pieces: int, per_box: int, spare: int) -> int:
    """Count boxes for the pieces plus a spare percentage, the last one may be partly filled."""
    if per_box < 1:
        raise ValueError("a box must hold something")
    if pieces <= 0:
        return 0
    extra = pieces * spare // 100
    return (pieces + extra + per_box - 1) // per_box


def take_oldest(batches: list[tuple[int, int]], wanted: int) -> list[tuple[int, int]]:
    """Pick a quantity from (day, amount) batches, oldest first, and list what is taken."""
    picked = []
    open_amount = wanted
    for day, amount in sorted(batches):
        if open_amount <= 0:
            break
        part = min(amount, open_amount)
        if part > 0:
            picked.append((day, part))
            open_amount -= part
    if open_amount > 0:
        raise ValueError(f"{open_amount} missing")
    return picked


def shelf_label(aisle: int, shelf: int, slot: int) -> str:
    """Build a storage code such as `C-07-3` from three positions."""
    if aisle < 0 or shelf < 1 or slot < 1:
        raise IndexError("positions start at the first shelf")
    letters = ""
    number = aisle
    while number >= 0:
        letters = chr(ord("A") + number % 26) + letters
        number = number // 26 - 1
    return f"{letters}-{shelf:02d}-{slot}"


def first_fit(sizes: list[int], capacity: int) -> list[list[int]]:
    """Put sizes one by one into the first bin with room, opening bins as needed."""
    bins: list[list[int]] = []
    for size in sizes:
        if size > capacity:
            raise ValueError("item larger than a bin")
        for content in bins:
            if sum(content) + size <= capacity:
                content.append(size)
                break
        else:
            bins.append([size])
    return bins


def abc_classes(values: dict[str, int], a_percent: int, b_percent: int) -> dict[str, str]:
    """Grade items by the share of the total value reached before them."""
    total = sum(values.values())
    if total <= 0:
        return {}
    grades = {}
    reached = 0
    for item in sorted(values, key=lambda name: (-values[name], name)):
        share = 100 * reached // total
        if share < a_percent:
            grades[item] = "A"
        else:
            grades[item] = "B" if share < b_percent else "C"
        reached += values[item]
    return grades


def days_of_cover(stock: int, sales: list[int]) -> int:
    """Tell how many whole days the stock lasts at the average sales, -1 when nothing is sold."""
    sold = sum(sales)
    if sold <= 0:
        return -1
    days = stock * len(sales) // sold
    return days if days > 0 else 0


def buildable(parts: dict[str, int], recipe: dict[str, int]) -> int:
    """Count the products that the parts on hand allow."""
    if not recipe:
        raise ValueError("empty recipe")
    best = None
    for part, need in recipe.items():
        if need <= 0:
            continue
        possible = parts.get(part, 0) // need
        if best is None or possible < best:
            best = possible
    return 0 if best is None else best


def stock_report(stock: dict[str, int], low: int) -> list[str]:
    """Write one line per item with a mark for low or empty stock."""
    lines = []
    for item in sorted(stock):
        amount = stock[item]
        mark = ""
        if amount <= 0:
            mark = " !!"
        elif amount <= low:
            mark = " !"
        lines.append(f"{item}: {amount}{mark}")
    return lines


def pallet_layers(count: int, rows: int, columns: int, limit: int) -> tuple[int, int]:
    """Give full layers and boxes in the top layer when stacking boxes on one pallet."""
    if rows <= 0 or columns <= 0:
        raise ValueError("a layer needs rows and columns")
    layers, rest = divmod(count, rows * columns)
    used = layers + 1 if rest > 0 else layers
    if used > limit:
        return limit, 0
    return layers, rest


def expired(batches: dict[str, list[int]], today: int) -> dict[str, int]:
    """Count for each item the batches whose best-before day has passed."""
    counts: dict[str, int] = {}
    for item, days in batches.items():
        gone = sum(1 for day in days if day < today)
        if gone > 0:
            counts[item] = gone
    return counts


def stock_out_day(stock: int, demand: list[int], deliveries: dict[int, int]) -> int | None:
    """Find the first day on which demand exceeds what is left, deliveries arriving in the morning."""
    left = stock
    for day, wanted in enumerate(demand):
        left += deliveries.get(day, 0)
        if wanted > left:
            return day
        left -= wanted
    return None


def merge_counts(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """Combine two counts, trusting the lower one when both name an item."""
    merged = dict(first)
    for item, amount in second.items():
        if amount < 0:
            raise ValueError(f"negative count of {item}")
        merged[item] = min(merged.get(item, amount), amount)
    return merged


def walk_length(route: list[tuple[int, int]]) -> int:
    """Measure a picking tour along (aisle, depth) stops, changing aisles only at depth zero."""
    steps = 0
    aisle = depth = 0
    for next_aisle, next_depth in route:
        if next_aisle == aisle:
            steps += abs(next_depth - depth)
        else:
            steps += depth + abs(next_aisle - aisle) + next_depth
        aisle, depth = next_aisle, next_depth
    return steps + depth + aisle


def valid_sku(code: str) -> bool:
    """Check a code of letters, a dash and digits whose last digit is the checksum of the others."""
    prefix, dash, digits = code.partition("-")
    if not dash or not prefix.isalpha() or not digits.isdecimal():
        return False
    if len(digits) < 3:
        return False
    total = 0
    for index, digit in enumerate(digits[:-1]):
        weight = 3 if index % 2 == 0 else 1
        total += weight * int(digit)
    return total % 10 == int(digits[-1])


def share_stock(stock: int, orders: list[int]) -> list[int]:
    """Hand out stock one piece at a time in rounds until orders or stock are used up."""
    given = [0] * len(orders)
    left = stock
    while left > 0:
        before = left
        for index, order in enumerate(orders):
            if left > 0 and given[index] < order:
                given[index] += 1
                left -= 1
        if left == before:
            break
    return given


def turnover(sold: int, opening: int, closing: int) -> float:
    """Give how often the average stock was sold, rounded to two digits."""
    if sold < 0:
        raise ValueError("sales cannot be negative")
    average = (opening + closing) / 2
    return 0.0 if average <= 0 else round(sold / average, 2)


def swap_report(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Describe which items were moved, added or removed between two shelf plans."""
    notes = []
    for item in sorted(before.keys() | after.keys()):
        if item not in after:
            notes.append(f"-{item}")
        elif item not in before:
            notes.append(f"+{item}")
        elif before[item] != after[item]:
            notes.append(f"{item}: {before[item]}>{after[item]}")
    return notes


def pack_sizes(quantity: int, packs: list[int]) -> dict[int, int]:
    """Cover a quantity with packs, large ones first, the smallest covering any rest."""
    if not packs or min(packs) < 1:
        raise ValueError("need packs of positive size")
    used = {}
    for size in sorted(set(packs), reverse=True):
        if quantity >= size:
            used[size] = quantity // size
            quantity %= size
    if quantity > 0:
        smallest = min(packs)
        used[smallest] = used.get(smallest, 0) + 1
    return used


def heaviest_within(weights: list[int], limit: int) -> int:
    """Give the largest total weight of two different items that stays within the limit."""
    ordered = sorted(weights)
    left, right = 0, len(ordered) - 1
    best = -1
    while left < right:
        pair = ordered[left] + ordered[right]
        if pair <= limit:
            best = max(best, pair)
            left += 1
        else:
            right -= 1
    return best


def group_by_zone(places: dict[str, str]) -> dict[str, list[str]]:
    """Collect items by the first letter of their place, each zone sorted."""
    zones: dict[str, list[str]] = {}
    for item, place in sorted(places.items()):
        if not place:
            zones.setdefault("?", []).append(item)
            continue
        zones.setdefault(place[0].upper(), []).append(item)
    return zones


def average_cost(batches: list[tuple[int, int]], used: int) -> int:
    """Give the mean unit cost of (amount, cost) batches after using up the first pieces."""
    amount_left = cost_left = 0
    skip = used
    for amount, cost in batches:
        gone = min(skip, amount)
        skip -= gone
        amount_left += amount - gone
        cost_left += (amount - gone) * cost
    if amount_left <= 0:
        return 0
    return cost_left // amount_left


def free_slots(taken: list[int], size: int, run: int) -> int:
    """Find the first slot that starts a run of free slots, or -1."""
    length = 0
    for slot in range(size):
        if slot in taken:
            length = 0
            continue
        length += 1
        if length >= run:
            return slot - run + 1
    return -1


def count_difference(expected: list[str], scanned: list[str]) -> dict[str, int]:
    """Tell by how much the scanned pieces of each item exceed the expected ones."""
    difference: dict[str, int] = {}
    for item in scanned:
        difference[item] = difference.get(item, 0) + 1
    for item in expected:
        difference[item] = difference.get(item, 0) - 1
    return {item: amount for item, amount in sorted(difference.items()) if amount != 0}


def best_supplier(quotes: list[tuple[str, int, int]], quantity: int, days: int) -> str | None:
    """Name the cheapest supplier among (name, price, lead time), long lead times excluded."""
    if quantity <= 0:
        return None
    choice = None
    lowest = 0
    for name, price, lead in quotes:
        cost = price * quantity
        if lead > days:
            continue
        if choice is None or cost < lowest:
            choice, lowest = name, cost
    return choice


def crate_levels(items: list[int], crate: int) -> list[int]:
    """Fill crates in order with whole items and give the level of each crate."""
    levels = [0]
    for item in items:
        if levels[-1] + item > crate and levels[-1] > 0:
            levels.append(0)
        levels[-1] += item
    return [] if levels == [0] else levels


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "reorder_list": [({"nut": 3}, {"nut": 5, "bolt": 9}), ({"a": 4}, {"a": 4}), ({}, {}),
        ({"x": 1}, {"y": 1, "x": 2}), ({"p": 9, "q": 0}, {"p": 2, "q": 7})],
    "apply_moves": [({"a": 5}, [("a", -5), ("b", 2)]), ({"a": 1}, [("a", -2)]), ({}, []),
        ({"k": 3}, [("k", 4)]), ({}, [("z", 0), ("z", 1)])],
    "boxes_needed": [(100, 12, 0), (96, 12, 0), (96, 12, 10), (0, 5, 9), (7, 0, 3), (1, 1, 50), (-4, 3, 0),
        (19, 3, 20), (50, 1, 2)],
    "take_oldest": [([(3, 5), (1, 4)], 6), ([(1, 2)], 3), ([], 0), ([(2, 4), (9, 4)], 4),
        ([(5, 0), (6, 3)], 2)],
    "shelf_label": [(2, 7, 3), (0, 1, 1), (26, 12, 4), (-1, 1, 1), (4, 0, 2), (4, 2, 0), (25, 3, 9),
        (52, 30, 8)],
    "first_fit": [([4, 5, 6, 1], 10), ([7, 4, 3], 7), ([11], 10), ([], 3), ([2, 2, 2, 2], 5)],
    "abc_classes": [({"a": 70, "b": 20, "c": 10}, 70, 90), ({}, 50, 80), ({"x": 5, "y": 5}, 50, 80),
        ({"k": 1, "l": 9, "m": 3, "n": 3}, 60, 80), ({"z": 0}, 1, 2)],
    "days_of_cover": [(20, [3, 5]), (10, []), (9, [0, 0]), (-5, [2]), (7, [7, 7, 7]), (8, [1, 2, 0]),
        (3, [1])],
    "buildable": [({"leg": 9, "top": 3}, {"leg": 4, "top": 1}), ({}, {"a": 1}), ({"a": 5}, {}),
        ({"a": 5}, {"a": 0}), ({"w": 12, "v": 2}, {"v": 1, "w": 3, "u": -2}), ({"p": 7}, {"p": 1})],
    "stock_report": [({"b": 5, "a": 0, "c": 3}, 3), ({}, 5), ({"x": -2, "y": 4}, 3), ({"z": 1}, 1),
        ({"m": 9}, 20)],
    "pallet_layers": [(23, 2, 4, 3), (25, 2, 4, 5), (24, 2, 4, 3), (25, 2, 4, 3), (3, 0, 4, 2), (3, 4, 0, 2),
        (0, 1, 1, 0), (9, 3, 3, 0)],
    "expired": [({"milk": [3, 5, 9], "oil": [20]}, 5), ({}, 3), ({"a": []}, 7), ({"b": [1, 1, 2]}, 3),
        ({"c": [4]}, 4)],
    "stock_out_day": [(10, [4, 4, 4], {}), (10, [4, 4, 4], {2: 2}), (0, [], {}), (3, [3, 1], {1: 1}),
        (0, [1], {0: 0}), (5, [2, 9, 1], {2: 50})],
    "merge_counts": [({"a": 5}, {"a": 3, "b": 1}), ({"a": 2}, {"a": 4}), ({}, {}), ({}, {"x": -1}),
        ({"k": 1}, {"z": 0})],
    "walk_length": [([],), ([(0, 4), (0, 1)],), ([(1, 3), (2, 5)],), ([(3, 0), (3, 6), (1, 2)],),
        ([(0, 2), (4, 2)],)],
    "valid_sku": [("AB-124",), ("AB-125",), ("AB-12",), ("AB123",), ("A1-123",), ("X-3x1",), ("T-900",),
        ("T-407",), ("K-5047",)],
    "share_stock": [(5, [2, 4]), (10, [1, 2]), (0, [3]), (4, []), (3, [5, 5]), (2, [0, 1, 1])],
    "turnover": [(100, 40, 60), (10, 0, 0), (-1, 5, 5), (7, 3, 0), (0, 4, 2), (9, -5, 3), (5, 1, 0)],
    "swap_report": [({"a": "A1", "b": "B2"}, {"a": "A1", "b": "B3"}), ({"x": "1"}, {}), ({}, {"y": "2"}),
        ({}, {}), ({"k": "9"}, {"k": "9"})],
    "pack_sizes": [(17, [10, 5, 2]), (20, [10, 5]), (3, [4]), (0, [5]), (9, []), (4, [0, 2]), (9, [4, 6]),
        (7, [5, 2, 1])],
    "heaviest_within": [([3, 8, 5, 1], 9), ([4, 6], 10), ([4, 6], 9), ([], 5), ([7], 20), ([2, 2, 9], 4)],
    "group_by_zone": [({"nut": "a1", "bolt": "A2", "cap": "b"},), ({},), ({"x": ""},),
        ({"k": "c", "a": "C9"},), ({"q": "z", "r": "", "b": "y"},)],
    "average_cost": [([(4, 10), (6, 20)], 2), ([(4, 10), (6, 20)], 7), ([(3, 5)], 3), ([], 1),
        ([(2, 9), (1, 3)], 0)],
    "free_slots": [([0, 3], 8, 2), ([0, 3], 8, 3), ([1, 3, 5], 6, 2), ([], 4, 4), ([], 3, 4), ([2], 5, 1)],
    "count_difference": [(["a", "b"], ["a", "a"]), ([], []), (["x"], ["x"]), (["q", "q"], ["p"]),
        ([], ["m", "m", "k"])],
    "best_supplier": [([("a", 5, 3), ("b", 4, 9)], 10, 5), ([("a", 5, 3), ("b", 4, 9)], 10, 9), ([], 1, 1),
        ([("x", 1, 1)], 0, 5), ([("k", 3, 2), ("l", 3, 1)], 1, 2), ([("p", 7, 4), ("q", 6, 4)], 2, 3)],
    "crate_levels": [([4, 5, 3, 6], 10), ([], 5), ([12, 1], 10), ([5, 5, 1], 10), ([0, 0], 3), ([3, 9], 4)],
}
