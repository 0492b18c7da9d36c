"""Corpus, topic `numbers`: scaling, rounding, rates and small integer arithmetic."""


def snap_to_step(value: int, step: int, tie_up: bool) -> int:
    """Move a value to the nearest multiple of the step; ties go up or down as asked."""
    if step <= 0:
        raise ValueError("step must be positive")
    rest = value % step
    lower = value - rest
    if rest * 2 > step:
        return lower + step
    if rest * 2 == step and tie_up:
        return lower + step
    return lower


def parking_fee(hours: int, free: int, hourly: int, day_cap: int) -> int:
    """Price a stay in a garage, with free first hours and a cap per day of 24 hours."""
    if hours <= free:
        return 0
    days, rest = divmod(hours, 24)
    part = rest * hourly
    part = min(part, day_cap)
    return days * day_cap + part


def ignore_small_moves(center: int, value: int, width: int) -> int:
    """Return how far a value lies outside the dead band around a center, with its sign."""
    gap = value - center
    if abs(gap) <= width:
        return 0
    if gap > 0:
        return gap - width
    return gap + width


def heading_difference(start: int, goal: int) -> int:
    """Return the signed turn in degrees, above -180 and up to 180, from one heading to another."""
    turn = (goal - start) % 360
    if turn > 180:
        turn -= 360
    return turn


def floor_root(value: int) -> int:
    """Return the largest whole number whose square does not exceed the value."""
    if value < 0:
        raise ValueError("negative value")
    low, high = 0, value + 1
    while high - low > 1:
        middle = (low + high) // 2
        if middle * middle <= value:
            low = middle
        else:
            high = middle
    return low


def split_by_ratio(amount: int, first: int, second: int, least: int) -> tuple[int, int]:
    """Split an amount between two sides by a ratio, with at least a least part for each side."""
    if amount < 2 * least or first < 0 or second < 0:
        raise ValueError("nothing to split fairly")
    if first + second == 0:
        return amount - amount // 2, amount // 2
    share = amount * first // (first + second)
    if share < least:
        share = least
    elif amount - share < least:
        share = amount - least
    return share, amount - share


def rescale(value: float, source: tuple[float, float], target: tuple[float, float]) -> float:
    """Map a value linearly from one range to another, clipped to the target range."""
    low, high = source
    if low == high:
        raise ValueError("source range is empty")
    share = (value - low) / (high - low)
    if share < 0:
        share = 0.0
    elif share > 1:
        share = 1.0
    return round(target[0] + share * (target[1] - target[0]), 4)


def unpayable_amounts(coins: list[int], limit: int) -> list[int]:
    """List the amounts from 1 to a limit that no mix of the given coins can pay exactly."""
    payable = {0}
    missing: list[int] = []
    for amount in range(1, limit + 1):
        for coin in coins:
            if coin > 0 and amount - coin in payable:
                payable.add(amount)
                break
        else:
            missing.append(amount)
    return missing


def multiplications_needed(exponent: int, square_cost: int, multiply_cost: int) -> int:
    """Price a power computed by squaring and multiplying, from the costs of both operations."""
    if exponent < 1:
        raise ValueError("exponent must be positive")
    cost = 0
    while exponent > 1:
        cost += square_cost
        if exponent & 1:
            cost += multiply_cost
        exponent >>= 1
    return cost


def continued_fraction(top: int, bottom: int) -> list[int]:
    """List the partial quotients of the continued fraction of top over bottom."""
    terms = []
    while bottom != 0:
        whole = top // bottom
        terms.append(whole)
        top, bottom = bottom, top - whole * bottom
    return terms


def staircase_rows(blocks: int) -> tuple[int, int]:
    """Return the number of full rows 1, 2, 3, ... that blocks can fill, and the blocks left over."""
    if blocks < 0:
        raise ValueError("negative number of blocks")
    row = 1
    left = blocks
    while left >= row:
        left -= row
        row += 1
    return row - 1, left


def mixed_number(top: int, bottom: int) -> str:
    """Write a fraction as a mixed number such as '-2 1/3'."""
    if bottom == 0:
        raise ValueError("zero denominator")
    sign = "-" if top * bottom < 0 else ""
    whole, rest = divmod(abs(top), abs(bottom))
    if rest == 0:
        return f"{sign}{whole}"
    if whole == 0:
        return f"{sign}{rest}/{abs(bottom)}"
    return f"{sign}{whole} {rest}/{abs(bottom)}"


def years_to_target(balance: float, target: float, percent: float, fee: float) -> int:
    """Count the years of interest less a fee until a balance reaches its target, or give -1."""
    years = 0
    while balance < target:
        grown = balance * (1 + percent / 100) - fee
        if grown <= balance or years >= 200:
            return -1
        balance = grown
        years += 1
    return years


def parcel_price(weight: int, bands: list[tuple[int, int]], surcharge: int) -> int:
    """Price a parcel by the first band that holds its weight, else by the last one plus a surcharge."""
    if weight <= 0 or not bands:
        raise ValueError("nothing to price")
    price = 0
    top = 0
    for top, price in bands:
        if weight <= top:
            return price
    return price + surcharge * (weight - top)


def bounce_position(steps: int, length: int) -> int:
    """Return where a walker is who paces back and forth between 0 and length."""
    if length <= 0:
        return 0
    place = steps % (2 * length)
    return place if place <= length else 2 * length - place


def closest_factors(area: int) -> tuple[int, int]:
    """Return the two factors of an area that lie closest together, smaller one first."""
    if area < 1:
        raise ValueError("area must be positive")
    best = (1, area)
    side = 2
    while side * side <= area:
        other = area // side
        if side * other == area:
            best = (side, other)
        side += 1
    return best


def terms_to_exceed(limit: float, first: int) -> int:
    """Count the reciprocals 1/first, 1/(first+1), ... needed for a sum above the limit."""
    if first < 1:
        raise ValueError("first must be positive")
    total = 0.0
    count = 0
    while total <= limit and count < 500:
        total += 1 / (first + count)
        count += 1
    return count


def spiral_place(number: int) -> tuple[int, int]:
    """Return the square ring, from 0, that holds a number of a number spiral, and its place there."""
    if number < 0:
        raise ValueError("negative number")
    ring = 0
    while (2 * ring + 1) ** 2 <= number:
        ring += 1
    if ring == 0:
        return 0, 0
    return ring, number - (2 * ring - 1) ** 2


def fraction_tree_path(top: int, bottom: int) -> str:
    """Spell the left and right turns to a fraction in the tree of all positive fractions."""
    if top < 1 or bottom < 1:
        raise ValueError("fraction must be positive")
    path = ""
    while top != bottom:
        if top < bottom:
            path += "L"
            bottom -= top
        else:
            path += "R"
            top -= bottom
    return path


def overtime_pay(hours: int, wage: int, normal: int, double_from: int) -> float:
    """Pay hours at the wage, at one and a half above normal hours, and double above double_from."""
    if hours <= 0 or wage <= 0:
        return 0.0
    if normal > double_from:
        raise ValueError("limits are out of order")
    plain = min(hours, normal)
    half = max(0, min(hours, double_from) - normal)
    double = max(0, hours - double_from)
    return plain * wage + half * wage * 1.5 + double * wage * 2.0


def relative_change(before: float, after: float, digits: int) -> str:
    """Describe the change between two readings in percent, with a sign, or as 'new' or 'flat'."""
    if before == after:
        return "flat"
    if before == 0:
        return "new"
    change = round((after - before) * 100 / abs(before), max(digits, 0))
    sign = "+" if change > 0 else ""
    return f"{sign}{change}%"


def quantize(value: float, low: float, high: float, levels: int) -> int:
    """Return the index of the equally wide level between low and high that holds the value."""
    if levels < 1 or high <= low:
        raise ValueError("no levels")
    if value < low:
        return 0
    if value >= high:
        return levels - 1
    width = (high - low) / levels
    index = int((value - low) / width)
    return min(index, levels - 1)


def doses_left(stock: int, per_day: int, rest_every: int) -> int:
    """Count the days a stock lasts when no dose is taken on every rest_every-th day."""
    if per_day <= 0:
        raise ValueError("dose must be positive")
    day = 0
    while stock >= per_day:
        day += 1
        if rest_every > 1 and day % rest_every == 0:
            continue
        stock -= per_day
    return day


def blend(first: float, second: float, weight: float) -> float:
    """Return the weighted middle of two numbers; the weight of the second is kept within 0 and 1."""
    if weight <= 0:
        return first
    if weight >= 1:
        return second
    mixed = first * (1 - weight) + second * weight
    return round(mixed, 6)


def egyptian_parts(top: int, bottom: int) -> list[int]:
    """Split a proper fraction into distinct unit fractions greedily, at most six of them."""
    if top < 0 or bottom <= top:
        raise ValueError("not a proper fraction")
    parts: list[int] = []
    while top > 0 and len(parts) < 6:
        unit = (bottom + top - 1) // top
        parts.append(unit)
        top = top * unit - bottom
        bottom = bottom * unit
    return parts


def sum_skipping(start: int, stop: int, skip: int) -> int:
    """Add the whole numbers from start up to and including stop, leaving out multiples of skip."""
    if start > stop:
        start, stop = stop, start
    total = 0
    for number in range(start, stop + 1):
        if skip != 0 and number % skip == 0:
            continue
        total += number
    return total


def price_after_discounts(price: float, discounts: list[float], lowest: float) -> float:
    """Apply percent discounts one after the other without going under the lowest price."""
    if price <= lowest:
        return price
    for discount in discounts:
        if not 0 <= discount <= 100:
            raise ValueError("discount out of range")
        price -= price * discount / 100
        if price < lowest:
            return lowest
    return round(price, 2)


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "snap_to_step": [(7, 5, True), (8, 5, True), (6, 4, True), (6, 4, False), (-3, 2, True), (3, 0, True)],
    "parking_fee": [(3, 1, 2, 20), (2, 2, 5, 9), (30, 0, 3, 40), (20, 1, 3, 40), (24, 1, 7, 11),
        (-3, 0, 2, 9)],
    "ignore_small_moves": [(5, 8, 3), (5, 9, 3), (5, 1, 3), (5, 2, 3), (0, -7, 2), (-4, 6, 0)],
    "heading_difference": [(10, 190), (10, 191), (350, 10), (0, 0), (90, 45), (-20, 400)],
    "floor_root": [(0,), (1,), (15,), (16,), (50,), (-1,)],
    "split_by_ratio": [(10, 2, 3, 1), (9, 0, 0, 1), (10, 0, 5, 2), (12, 7, 0, 3), (5, 1, 1, 3), (6, -1, 4, 0),
        (8, 1, 1, 4), (7, 2, -1, 1)],
    "rescale": [(5.0, (0.0, 10.0), (2.0, 4.0)), (-1.0, (0.0, 4.0), (1.0, 9.0)), (3.0, (1.0, 2.0), (0.0, 8.0)),
        (2.5, (1.0, 3.0), (7.0, 3.0)), (1.0, (2.0, 2.0), (0.0, 1.0)), (3.0, (2.0, 6.0), (1.0, 3.0))],
    "unpayable_amounts": [([3, 5], 10), ([2], 5), ([], 3), ([1], 4), ([4, 0, -2], 6), ([6, 10, 15], 30)],
    "multiplications_needed": [(1, 2, 3), (10, 1, 10), (15, 2, 5), (0, 1, 1), (16, 3, 7), (2, 4, 1)],
    "continued_fraction": [(7, 3), (45, 16), (3, 7), (5, 0), (6, 2), (-7, 4)],
    "staircase_rows": [(0,), (1,), (6,), (8,), (21,), (-2,)],
    "mixed_number": [(7, 3), (-7, 3), (6, 3), (2, 5), (1, 0), (3, -4)],
    "years_to_target": [(100.0, 121.0, 10.0, 0.0), (50.0, 50.0, 5.0, 1.0), (100.0, 200.0, 1.0, 1.0),
        (10.0, 90.0, 50.0, 2.0), (1.0, 50.0, 1.0, 0.0)],
    "parcel_price": [(2, [(2, 5), (5, 8)], 3), (3, [(2, 5), (5, 8)], 3), (9, [(2, 5), (5, 8)], 3),
        (0, [(1, 1)], 1), (4, [], 2), (1, [(2, 7)], 4)],
    "bounce_position": [(3, 5), (5, 5), (7, 5), (23, 4), (4, 0), (-1, 6)],
    "closest_factors": [(12,), (16,), (13,), (1,), (36,), (0,)],
    "terms_to_exceed": [(1.0, 1), (1.5, 2), (0.0, 3), (-1.0, 4), (2.0, 0), (9.0, 50)],
    "spiral_place": [(0,), (1,), (8,), (9,), (30,), (-1,)],
    "fraction_tree_path": [(1, 1), (3, 5), (7, 2), (4, 6), (0, 3), (2, 0), (1, 4)],
    "overtime_pay": [(10, 3, 8, 12), (14, 2, 8, 12), (8, 5, 8, 8), (-2, 4, 8, 12), (5, 4, 8, 12),
        (5, 1, 9, 4)],
    "relative_change": [(4.0, 5.0, 1), (5.0, 4.0, 1), (3.0, 3.0, 0), (0.0, 2.0, 1), (-3.0, 4.0, 2),
        (7.0, 9.0, -1)],
    "quantize": [(2.5, 0.0, 10.0, 4), (-4.0, 0.0, 5.0, 3), (5.0, 0.0, 5.0, 3), (3.0, 1.0, 4.0, 6),
        (1.0, 2.0, 2.0, 3), (0.5, 0.0, 1.0, 0)],
    "doses_left": [(10, 2, 3), (9, 2, 0), (2, 2, 1), (1, 2, 4), (12, 3, 2), (5, 0, 2)],
    "blend": [(2.0, 6.0, 0.25), (1.0, 9.0, 0.0), (1.0, 9.0, 1.0), (3.0, 4.0, -2.0), (3.0, -4.0, 0.5),
        (3.0, 8.0, 5.0)],
    "egyptian_parts": [(3, 4), (5, 7), (0, 5), (1, 6), (5, 5), (-1, 3)],
    "sum_skipping": [(1, 10, 3), (5, 5, 0), (8, 2, 4), (-3, 3, 2), (4, 4, 4), (1, 4, -2)],
    "price_after_discounts": [(50.0, [10.0, 20.0], 5.0), (4.0, [50.0], 5.0), (40.0, [100.0], 9.0),
        (20.0, [101.0], 1.0), (30.0, [0.0, 50.0], 15.0), (30.0, [-1.0], 2.0)],
}
