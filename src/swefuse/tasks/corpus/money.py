"""Corpus, topic `money`: prices, taxes, loans, splits and ledgers in whole cents."""


def format_cents(cents: int, symbol: str) -> str:
    """Write an amount of cents with two decimals and a leading currency symbol."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    if rest == 0 and whole >= 1:
        return f"{sign}{symbol}{whole}"
    return f"{sign}{symbol}{whole}.{rest:02d}"


def parse_price(text: str) -> int:
    """Read a price such as `1,299.5` as cents."""
    whole, _point, fraction = text.strip().lstrip("$").replace(",", "").partition(".")
    if len(fraction) > 2:
        raise ValueError("fractions of a cent")
    if not whole.isdigit():
        raise ValueError(f"no price: {text!r}")
    cents = int(whole) * 100
    if fraction:
        cents += int(fraction.ljust(2, "0"))
    return cents


def split_bill(total: int, people: int) -> list[int]:
    """Share a bill so that the first people pay a leftover cent each."""
    if people <= 0:
        raise ValueError("nobody to pay")
    share = total // people
    leftover = total - share * people
    return [share + 1] * leftover + [share] * (people - leftover)


def bracket_tax(income: int, brackets: list[tuple[int, int]]) -> int:
    """Sum the tax over brackets of a lower bound and a percentage, bounds rising."""
    tax = 0
    for index, (bound, percent) in enumerate(brackets):
        if income <= bound:
            break
        top = income
        if index + 1 < len(brackets):
            top = min(income, brackets[index + 1][0])
        tax += (top - bound) * percent // 100
    return tax


def make_change(amount: int, coins: list[int]) -> dict[int, int] | None:
    """Pay an amount greedily with the largest coins first, None when it does not work out."""
    purse: dict[int, int] = {}
    for coin in sorted(coins, reverse=True):
        if coin <= 0:
            raise ValueError(f"worthless coin {coin}")
        if amount >= coin:
            purse[coin] = amount // coin
            amount %= coin
    return purse if amount == 0 else None


def running_balance(opening: int, moves: list[int], floor: int) -> list[int]:
    """List the balance after each move, refusing moves that would fall under the floor."""
    balance = opening
    history = []
    for move in moves:
        if move >= 0 or balance + move >= floor:
            balance += move
        history.append(balance)
    return history


def bulk_price(quantity: int, unit: int, tiers: list[tuple[int, int]]) -> int:
    """Price an order by the best tier of minimum quantity and unit price that it reaches."""
    if quantity < 0:
        raise ValueError("negative quantity")
    price = unit
    for least, cheaper in tiers:
        if quantity >= least and cheaper < price:
            price = cheaper
    return quantity * price


def discount(price: int, percent: int) -> int:
    """Take a percentage off a price, rounding the reduction to the nearest cent."""
    if percent <= 0:
        return price
    if percent >= 100:
        return 0
    reduction = (price * percent + 50) // 100
    return price - reduction


def months_to_repay(debt: int, payment: int, percent: int) -> int:
    """Count monthly payments until a debt with yearly interest is gone, -1 when it never shrinks."""
    months = 0
    while debt > 0:
        interest = debt * percent // 1200
        if payment <= interest:
            return -1
        debt += interest - payment
        months += 1
    return months


def settle_up(paid: dict[str, int]) -> dict[str, int]:
    """Tell what each person must still pay (or get back if negative) for equal shares."""
    if not paid:
        return {}
    share, odd = divmod(sum(paid.values()), len(paid))
    owed = {}
    for rank, name in enumerate(sorted(paid)):
        fair = share + 1 if rank < odd else share
        if fair != paid[name]:
            owed[name] = fair - paid[name]
    return owed


def cheapest_shop(offers: dict[str, int], shipping: int, free_from: int) -> str:
    """Name the shop with the lowest price, shipping included below the free limit."""
    if not offers:
        raise ValueError("no offers")
    best_name = ""
    best_cost = -1
    for name in sorted(offers):
        cost = offers[name]
        if cost < free_from:
            cost += shipping
        if best_cost < 0 or cost < best_cost:
            best_name, best_cost = name, cost
    return best_name


def buy_two_get_one(prices: list[int]) -> int:
    """Total a basket in which the cheapest of every three items, dearest first, is free."""
    total = 0
    for position, price in enumerate(sorted(prices, reverse=True), start=1):
        if position % 3 != 0:
            total += price
    return total


def fits_budget(wishes: list[tuple[str, int]], budget: int) -> list[str]:
    """Choose wishes in the given order as long as each fits the money left."""
    chosen: list[str] = []
    left = budget
    for name, price in wishes:
        if price > left:
            continue
        chosen.append(name)
        left -= price
        if left == 0:
            break
    return chosen


def add_tax(net: int, rate: int, reduced: bool) -> tuple[int, int]:
    """Give tax and gross for a net amount, the rate being in percent and halved when reduced."""
    if rate < 0:
        raise ValueError(f"negative rate: {rate}")
    tax = net * rate // 100
    if reduced:
        tax = net * rate // 200
    return tax, net + tax


def statement_lines(entries: list[tuple[str, int]], width: int) -> list[str]:
    """Print entries as lines with the amount aligned to the right edge."""
    lines = []
    for label, cents in entries:
        amount = f"{cents / 100:.2f}"
        room = width - len(amount) - 1
        if len(label) > room:
            label = label[:max(room - 1, 0)] + "~"
        lines.append(label.ljust(room) + " " + amount)
    return lines


def lowest_point(opening: int, moves: list[int]) -> tuple[int, int]:
    """Find the smallest balance reached and after how many moves it first occurs."""
    balance = opening
    lowest, when = opening, 0
    for step, move in enumerate(moves, 1):
        balance += move
        if balance < lowest:
            lowest, when = balance, step
    return lowest, when


def convert_chain(amount: int, rates: list[tuple[int, int]], fee: int) -> int:
    """Exchange money through rates given as fractions, each costing a fixed fee."""
    for numerator, denominator in rates:
        if denominator == 0:
            raise ValueError("rate over zero")
        amount = amount * numerator // denominator - fee
        if amount <= 0:
            return 0
    return amount


def best_trade(prices: list[int], fee: int) -> tuple[int, int] | None:
    """Give the days of buying once and selling later with the largest profit after a fee."""
    best = None
    profit = 0
    cheapest = 0
    for day in range(1, len(prices)):
        gain = prices[day] - prices[cheapest] - fee
        if gain > profit:
            profit = gain
            best = (cheapest, day)
        if prices[day] < prices[cheapest]:
            cheapest = day
    return best


def round_cash(cents: int, step: int) -> int:
    """Round an amount to the nearest multiple of a coin step, halves upward."""
    if step < 2:
        return cents
    below = cents - cents % step
    above = below + step
    if cents - below < above - cents:
        return below
    return above


def monthly_totals(entries: list[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """Sum entries of month and amount for each month of a span, silent months included."""
    totals = {month: 0 for month in range(first, last + 1)}
    for month, amount in entries:
        if first <= month <= last:
            totals[month] += amount
    return sorted(totals.items())


def tip_options(bill: int, percents: list[int], step: int) -> list[int]:
    """Suggest totals with tip rounded up to full steps, without repeats."""
    if bill <= 0 or step <= 0:
        return []
    options: list[int] = []
    for percent in percents:
        total = bill + bill * percent // 100
        total = (total + step - 1) // step * step
        if total not in options:
            options.append(total)
    return options


def apply_coupons(price: int, coupons: list[str]) -> int:
    """Reduce a price by coupons such as `10%` or `250`, never under zero."""
    for coupon in coupons:
        code = coupon.strip()
        try:
            value = int(code.rstrip("%"))
        except ValueError:
            continue
        if code.endswith("%"):
            value = price * min(value, 100) // 100
        price -= value
        if price < 0:
            return 0
    return price


def who_owes_most(debts: list[tuple[str, str, int]]) -> str | None:
    """Name the person with the largest net debt from (debtor, creditor, amount) notes."""
    net: dict[str, int] = {}
    for debtor, creditor, amount in debts:
        net[debtor] = net.get(debtor, 0) + amount
        net[creditor] = net.get(creditor, 0) - amount
    worst = None
    for name, amount in sorted(net.items()):
        if amount > 0 and (worst is None or amount > net[worst]):
            worst = name
    return worst


def depreciate(value: int, percent: int, years: int, scrap: int) -> list[int]:
    """List the book value at the end of each year, stopping at the scrap value."""
    if not 0 < percent < 100:
        raise ValueError("percent must lie between 0 and 100")
    values = []
    while len(values) < years and value > scrap:
        value = max(scrap, value - value * percent // 100)
        values.append(value)
        if values[-2:] == [value, value]:
            break
    return values


def group_thousands(amount: int, mark: str) -> str:
    """Write a whole amount with a mark between groups of three digits."""
    digits = str(abs(amount))
    groups = []
    while len(digits) > 3:
        groups.insert(0, digits[-3:])
        digits = digits[:-3]
    groups.insert(0, digits)
    text = mark.join(groups)
    return "-" + text if amount < 0 else text


def mismatched_entries(book: dict[str, int], bank: dict[str, int], tolerance: int) -> list[str]:
    """List entries that one side lacks or whose amounts differ beyond the tolerance."""
    wrong = []
    for key in sorted(set(book) | set(bank)):
        if key not in book or key not in bank:
            wrong.append(f"{key}?")
        elif abs(book[key] - bank[key]) > tolerance:
            wrong.append(key)
    return wrong


def late_fee(amount: int, days: int, grace: int, cap: int) -> int:
    """Charge one percent for every begun week past the grace days, up to a cap."""
    if amount <= 0 or days <= grace:
        return 0
    weeks = (days - grace + 6) // 7
    fee = amount * weeks // 100
    return fee if fee < cap else cap


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "format_cents": [(1250, "$"), (100, "$"), (0, "E"), (-5, "$"), (-300, "$"), (99, "$"), (1201, "k ")],
    "parse_price": [("1,299.5",), ("$3.07",), ("12",), ("0.123",), ("abc",), ("8.",), ("2.99",), ("",)],
    "split_bill": [(100, 3), (9, 3), (11, 4), (5, 1), (7, 0), (0, 2), (8, -1)],
    "bracket_tax": [(5000, [(0, 10), (2000, 20), (4000, 50)]), (2000, [(0, 10), (2000, 20)]), (900, []),
        (700, [(500, 33)]), (500, [(500, 30)]), (3000, [(100, 9), (3000, 40)])],
    "make_change": [(87, [25, 10, 5, 1]), (30, [25, 10]), (0, [5]), (5, [0]), (4, []), (10, [10, 2]),
        (7, [1, 5])],
    "running_balance": [(50, [-30, -30, 20, -40], 0), (10, [], 0), (5, [-10, 4], -5), (-8, [0, 3, -1], 0),
        (20, [-15, -5], 1)],
    "bulk_price": [(10, 9, [(5, 8), (10, 7)]), (9, 9, [(5, 8), (10, 7)]), (0, 4, []), (-1, 5, []),
        (3, 6, [(1, 8)]), (5, 9, [(5, 8), (2, 9)])],
    "discount": [(999, 10), (50, 0), (80, 100), (125, 50), (45, 99), (60, -3), (333, 1), (200, 150)],
    "months_to_repay": [(1000, 300, 12), (0, 50, 9), (10000, 100, 12), (900, 300, 0), (5000, 51, 12),
        (7, 0, 0), (-4, 5, 5)],
    "settle_up": [({},), ({"ann": 30, "bob": 0},), ({"a": 10, "b": 0, "c": 1},), ({"x": 5},),
        ({"p": 3, "q": 4},), ({"p": 4, "q": 3},)],
    "cheapest_shop": [({}, 5, 50), ({"a": 48, "b": 50}, 5, 50), ({"b": 9, "a": 9}, 1, 0),
        ({"m": 0, "z": 3}, 4, 3), ({"q": 7, "c": 20}, 2, 30)],
    "buy_two_get_one": [([],), ([10, 20, 30],), ([5, 8, 2, 9, 1, 7, 3],), ([4, 4],), ([6, 1, 1, 1],)],
    "fits_budget": [([("a", 5), ("b", 9), ("c", 3)], 8), ([("a", 5), ("b", 0)], 5), ([], 10), ([("x", 4)], 3),
        ([("p", 2), ("q", 2), ("r", 1)], 4), ([("k", 1), ("l", 6)], 8)],
    "add_tax": [(1000, 19, False), (1000, 19, True), (0, 7, False), (55, 0, True), (80, -1, False),
        (99, 10, True)],
    "statement_lines": [([("Rent", 90000), ("Food", 1250)], 14), ([("Electricity", 5)], 10), ([], 8),
        ([("ab", 100)], 7), ([("abc", -250)], 8), ([("x", 7)], 3)],
    "lowest_point": [(10, [-5, -6, 4, -3]), (3, []), (0, [5, -5, -1, 0]), (-2, [2, -2]), (7, [-7, 7, -7])],
    "convert_chain": [(1000, [(9, 10), (3, 2)], 5), (10, [(1, 2)], 5), (10, [(1, 2)], 4), (7, [], 3),
        (5, [(1, 0)], 0), (50, [(2, 1), (0, 4), (1, 1)], -1)],
    "best_trade": [([], 0), ([5], 1), ([7, 1, 5, 3, 6], 1), ([9, 8, 6], 0), ([4, 4, 8, 8], 2),
        ([3, 8, 2, 6], 5), ([6, 2, 2, 5, 1, 5], 1), ([1, 4], 3)],
    "round_cash": [(1202, 5), (1203, 5), (15, 10), (14, 10), (7, 1), (-7, 5), (20, 5), (3, 2), (9, 0)],
    "monthly_totals": [([(1, 50), (3, -20), (1, 5)], 1, 3), ([], 4, 4), ([(7, 1), (9, 2)], 8, 8),
        ([(2, 3)], 5, 4), ([(5, 8), (6, 9), (4, 1)], 5, 6)],
    "tip_options": [(1000, [99], 1), (1000, [10, 15, 20], 50), (990, [10, 11], 100), (0, [10], 5),
        (80, [5], 0), (45, [0], 1), (1, [0, 100, 50], 2), (-3, [], 1)],
    "apply_coupons": [(1000, ["10%", "250"]), (300, ["400"]), (80, ["x", " 5 "]), (50, ["50"]),
        (90, ["120%"]), (7, []), (200, ["100", "50%", "-3"]), (5, ["6"]), (5, ["5", "-4"])],
    "who_owes_most": [([],), ([("a", "b", 5), ("c", "b", 9)],), ([("a", "b", 5), ("b", "a", 5)],),
        ([("z", "k", 4), ("d", "k", 4)],), ([("m", "n", 3), ("n", "o", 7), ("p", "m", 6)],)],
    "depreciate": [(1000, 20, 3, 100), (100, 50, 9, 20), (9, 10, 5, 0), (50, 0, 2, 1), (50, 100, 2, 1),
        (30, 99, 0, 3), (10, 10, 4, 10), (60, 1, 2, 0)],
    "group_thousands": [(1234567, ","), (999, "."), (-1000, "'"), (0, ","), (-12, "_"), (98765, " ")],
    "mismatched_entries": [({"a": 5, "b": 7}, {"a": 5, "b": 9}, 1), ({"x": 1}, {}, 0), ({}, {"y": 2}, 5),
        ({"k": 3}, {"k": 5}, 2), ({}, {}, 0), ({"m": 9, "n": 4}, {"m": 4, "n": 4}, 0)],
    "late_fee": [(1000, 8, 7, 500), (1000, 15, 7, 500), (1000, 14, 7, 500), (1000, 7, 7, 9), (0, 30, 1, 5),
        (5000, 60, 3, 80), (-8, 50, 0, 3), (300, 22, 0, 12), (1000, 17, 2, 30), (1000, 0, 20, 50),
        (9999, 8, 7, 500), (1, 99, 0, 1), (700, 12, 4, -3)],
}
