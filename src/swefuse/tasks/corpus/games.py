"""Corpus, topic `games`: scores, boards, cards, dice and turns."""


def bowling_total(rolls: list[int]) -> int:
    """Total a row of bowling frames in which a strike or spare adds the next roll once."""
    total = 0
    i = 0
    while i < len(rolls):
        size = 1 if rolls[i] == 10 else 2
        frame = sum(rolls[i:i + size])
        total += frame
        i += size
        if frame == 10 and i < len(rolls):
            total += rolls[i]
    return total


def line_winner(board: list[str]) -> str:
    """Return the player who owns a full row, column or falling diagonal, else a dot."""
    size = len(board)
    lines = board + ["".join(column) for column in zip(*board)]
    lines.append("".join(board[i][i] for i in range(size)))
    for line in lines:
        if line and line[0] != "." and line.count(line[0]) == size:
            return line[0]
    return "."


def dice_score(dice: list[int]) -> int:
    """Score three of a kind at a hundred times the face, and single ones at 50."""
    if any(die < 1 or die > 6 for die in dice):
        raise ValueError("not a die")
    score = 0
    for face in range(1, 7):
        count = dice.count(face)
        if count >= 3:
            score += face * 100
            count -= 3
        if face == 1:
            score += count * 50
    return score


def blackjack_value(cards: list[str]) -> int:
    """Count a hand, aces as 11 while that does not bust; a bust counts as 0."""
    total = aces = 0
    for card in cards:
        if card == "A":
            aces += 1
            total += 11
        else:
            total += 10 if card in ("J", "Q", "K") else int(card)
    while total > 21 and aces > 0:
        total -= 10
        aces -= 1
    return total if total <= 21 else 0


def hand_rank(values: list[int]) -> str:
    """Name the best of four-of-a-kind, full house, triple, two pairs, pair or high card."""
    counts = sorted((values.count(v) for v in set(values)), reverse=True) + [0, 0]
    if counts[0] >= 4:
        return "four"
    if counts[0] == 3:
        return "full house" if counts[1] >= 2 else "triple"
    if counts[0] == 2:
        return "two pairs" if counts[1] == 2 else "pair"
    return "high card"


def is_straight(values: list[int], length: int) -> bool:
    """Tell if the hand has enough consecutive values, an ace (14) also counting as 1."""
    present = set(values)
    if 14 in present:
        present.add(1)
    run = 0
    for value in range(1, 15):
        run = run + 1 if value in present else 0
        if run >= length:
            return True
    return False


def tennis_call(server: int, receiver: int) -> str:
    """Announce the state of a tennis game from the points won by both players."""
    if server < 0 or receiver < 0:
        raise ValueError("negative points")
    lead = server - receiver
    if max(server, receiver) >= 4 and abs(lead) >= 2:
        return "game"
    if server >= 3 and receiver >= 3:
        return ["deuce", "advantage", "advantage"][lead]
    words = ["love", "fifteen", "thirty", "forty"]
    return f"{words[server]}-{words[receiver]}"


def knight_targets(column: int, row: int, size: int) -> list[tuple[int, int]]:
    """List, in order, the squares a knight can jump to on a square board."""
    targets = []
    for x in range(column - 2, column + 3):
        for y in range(row - 2, row + 3):
            if abs(x - column) + abs(y - row) == 3 and 0 <= x < size and 0 <= y < size:
                targets.append((x, y))
    return targets


def queen_attacks(queen: tuple[int, int], pieces: list[tuple[int, int]]) -> int:
    """Count the pieces on a line with the queen, whatever stands in between."""
    attacked = 0
    column, row = queen
    for x, y in pieces:
        if (x, y) == queen:
            continue
        if x == column or y == row or abs(x - column) == abs(y - row):
            attacked += 1
    return attacked


def mine_hints(field: list[str]) -> list[str]:
    """Replace each free cell of a minefield by the number of mines around it."""
    hints = []
    for r, line in enumerate(field):
        text = ""
        for c, cell in enumerate(line):
            near = "".join(other[max(c - 1, 0):c + 2] for other in field[max(r - 1, 0):r + 2])
            text += cell if cell == "*" else str(near.count("*"))
        hints.append(text)
    return hints


def slide_row(row: list[int]) -> list[int]:
    """Slide the tiles of a row to the left, merging equal neighbours once each."""
    tiles = [tile for tile in row if tile != 0]
    merged = []
    i = 0
    while i < len(tiles):
        if i + 1 < len(tiles) and tiles[i] == tiles[i + 1]:
            merged.append(tiles[i] * 2)
            i += 2
        else:
            merged.append(tiles[i])
            i += 1
    return merged + [0] * (len(row) - len(merged))


def drop_disc(columns: list[str], column: int, disc: str, height: int) -> int:
    """Return how many equal discs are on top of a column after dropping one more."""
    if not 0 <= column < len(columns):
        raise IndexError("no such column")
    if len(columns[column]) >= height:
        raise ValueError("column is full")
    stack = columns[column] + disc
    run = 0
    while run < len(stack) and stack[-1 - run] == stack[-1]:
        run += 1
    return run


def ladder_move(position: int, roll: int, shortcuts: dict[int, int], last: int) -> int:
    """Move a token, bouncing back from the last square, then take one shortcut."""
    if roll < 1 or roll > 6:
        return position
    target = position + roll
    if target > last:
        target = 2 * last - target
    return shortcuts.get(target, target)


def code_pegs(secret: str, guess: str) -> tuple[int, int]:
    """Return the number of right places and of right colours in wrong places."""
    if len(secret) != len(guess):
        raise ValueError("lengths differ")
    exact = 0
    for a, b in zip(secret, guess):
        if a == b:
            exact += 1
    shared = sum(min(secret.count(color), guess.count(color)) for color in set(guess))
    return exact, shared - exact


def hangman_view(word: str, guesses: list[str], lives: int) -> str:
    """Show the guessed letters of a word, or the fate of the player."""
    wrong = sum(1 for letter in guesses if letter not in word)
    if wrong >= lives:
        return "lost"
    shown = ""
    for letter in word:
        shown += letter if letter in guesses else "_"
    return "won" if shown == word else shown


def nim_sum_move(heaps: list[int]) -> tuple[int, int] | None:
    """Return the heap and the number to take that wins the game of Nim, if any."""
    total = 0
    for heap in heaps:
        total ^= heap
    if total == 0:
        return None
    for i, heap in enumerate(heaps):
        target = heap ^ total
        if target < heap:
            return i, heap - target
    return None


def rating_change(own: int, other: int, result: int, step: int) -> int:
    """Return the change of a rating after a win (2), a draw (1) or a loss (0)."""
    if result not in (0, 1, 2):
        raise ValueError("unknown result")
    edge = max(-40, min(40, own - other))
    expected = 50 + edge
    change = (50 * result - expected) * step
    return change // 100 if change >= 0 else -(-change // 100)


def league_table(games: list[tuple[str, int, int, str]]) -> list[tuple[str, int, int]]:
    """Return (team, points, goal difference) with the best team first."""
    points: dict[str, int] = {}
    goals: dict[str, int] = {}
    for home, scored, conceded, away in games:
        for team, diff in ((home, scored - conceded), (away, conceded - scored)):
            reward = 3 if diff > 0 else (1 if diff == 0 else 0)
            points[team] = points.get(team, 0) + reward
            goals[team] = goals.get(team, 0) + diff
    order = sorted(points, key=lambda team: (-points[team], -goals[team], team))
    return [(team, points[team], goals[team]) for team in order]


def trick_winner(cards: list[tuple[str, int]], trump: str) -> int:
    """Return who takes the trick: the best trump, else the best card of the first suit."""
    if not cards:
        raise ValueError("no cards played")
    best = 0
    for i in range(1, len(cards)):
        suit, value = cards[i]
        if suit == cards[best][0] and value > cards[best][1]:
            best = i
        elif suit == trump and cards[best][0] != trump:
            best = i
    return best


def rhyme_order(players: list[str], beats: int) -> list[str]:
    """Return the order in which players leave a ring at every given beat."""
    if beats < 1:
        raise ValueError("no beats")
    ring = players[:]
    order = []
    place = 0
    while ring:
        place = (place + beats - 1) % len(ring)
        order.append(ring.pop(place))
    return order


def board_tax(owned: dict[str, int], houses: dict[str, int], per_house: int, cap: int) -> int:
    """Return the tax on streets and houses, five or more houses counting as a hotel."""
    tax = 0
    for street, price in owned.items():
        count = houses.get(street, 0)
        if count >= 5:
            tax += price // 2
        else:
            tax += price // 10 + count * per_house
    return min(tax, cap)


def tile_word_score(word: str, values: dict[str, int], doubled: set[int]) -> int:
    """Score a word of tiles with doubled places and a bonus for seven tiles or more."""
    if not word:
        return 0
    score = 0
    for place, letter in enumerate(word):
        value = values.get(letter, 1)
        score += value * 2 if place in doubled else value
    if len(word) >= 7:
        score += 50
    return score


def fleet_hits(ships: list[tuple[int, int, int]], shots: list[tuple[int, int]]) -> tuple[int, int]:
    """Return hits and sunk ships, a ship being row, first column and length."""
    hits = sunk = 0
    targets = set(shots)
    for row, column, length in ships:
        struck = sum((row, c) in targets for c in range(column, column + length))
        hits += struck
        if struck == length:
            sunk += 1
    return hits, sunk


def darts_left(start: int, throws: list[tuple[int, int]]) -> int:
    """Return the rest of a darts leg, throws (number, factor) that overshoot not counting."""
    left = start
    for number, factor in throws:
        points = number * factor
        if points > left or left - points == 1 or (points == left and factor != 2):
            continue
        left -= points
        if left == 0:
            break
    return left


def match_score(rallies: str, target: int) -> tuple[int, int, int, int]:
    """Return sets and current points of A and B, each set needing a lead of two."""
    sets_a = sets_b = a = b = 0
    for winner in rallies:
        a += winner == "A"
        b += winner == "B"
        if max(a, b) >= target and abs(a - b) >= 2:
            if a > b:
                sets_a += 1
            else:
                sets_b += 1
            a = b = 0
    return sets_a, sets_b, a, b


def experience_level(points: int, first: int) -> tuple[int, int]:
    """Return the level and what is missing to the next, every level costing one step more."""
    if points < 0 or first <= 0:
        raise ValueError("bad experience")
    level, cost = 1, first
    while points >= cost:
        points -= cost
        level += 1
        cost += first
    return level, cost - points


def battle_rounds(attack: int, armor: int, health: int, potion: int) -> int | None:
    """Return the rounds needed to win against a foe who drinks one potion at half health."""
    damage = max(attack - armor, 0)
    if damage <= max(potion, 0):
        return None
    rounds, left, used = 0, health, False
    while left > 0:
        left -= damage
        rounds += 1
        if not used and 0 < left * 2 <= health:
            left += potion
            used = True
    return rounds


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "bowling_total": [([3, 4, 5, 5, 2, 1],), ([10, 3, 4],), ([10],), ([],), ([4, 6, 10, 1],), ([7],)],
    "line_winner": [(["xxx", "o.o", "..."],), (["xo", "xo"],), (["ox", ".o"],), ([],), (["..", ".x"],),
        (["x"],)],
    "dice_score": [([1, 1, 1, 1, 5],), ([2, 2, 2, 1],), ([0],), ([7],), ([],), ([6, 6, 6, 3, 3],), ([4, 1],)],
    "blackjack_value": [(["A", "K"],), (["A", "A", "9"],), (["Q", "J", "2"],), ([],), (["7", "A", "5", "K"],),
        (["10", "A"],)],
    "hand_rank": [([2, 2, 2, 2, 5],), ([3, 3, 3, 4, 4],), ([3, 3, 3, 4],), ([5, 5, 6, 6],), ([7, 7, 1],),
        ([],), ([8],)],
    "is_straight": [([14, 2, 3], 3), ([10, 11, 12, 13, 14], 5), ([4, 5, 7], 3), ([], 0), ([9, 8, 7], 4),
        ([13, 14, 15], 3)],
    "tennis_call": [(0, 0), (3, 1), (4, 2), (3, 3), (4, 3), (-1, 0), (2, -1), (5, 3), (2, 3), (4, 5), (0, 4)],
    "knight_targets": [(0, 0, 8), (3, 3, 8), (1, 1, 3), (2, 1, 4), (7, 6, 8)],
    "queen_attacks": [((3, 3), [(3, 0), (0, 3), (5, 5), (4, 6)]), ((0, 0), [(0, 0)]), ((1, 2), []),
        ((2, 5), [(4, 3), (1, 7)]), ((1, 4), [(4, 1), (7, 4)])],
    "mine_hints": [(["*..", "...", "..*"],), ([],), (["*"],), (["....", "..**"],), (["*.*", "***"],)],
    "slide_row": [([2, 0, 2, 4],), ([2, 2, 2],), ([],), ([0, 0],), ([4, 4, 4, 4],), ([0, 8, 2],)],
    "drop_disc": [(["xo", "x"], 0, "o", 3), (["xo", "x"], 1, "x", 1), ([""], 0, "x", 1), (["x"], 1, "o", 3),
        (["oxx"], 0, "x", 4), (["a"], -1, "b", 2)],
    "ladder_move": [(3, 4, {7: 2}, 20), (18, 4, {}, 20), (14, 6, {20: 5}, 20), (5, 0, {}, 20), (1, 7, {}, 9),
        (4, 1, {5: 6, 6: 9}, 9)],
    "code_pegs": [("rgby", "rbgg"), ("aab", "aba"), ("", ""), ("ab", "a"), ("xxy", "zzz"), ("rrgg", "ggrg")],
    "hangman_view": [("tree", ["e", "x"], 2), ("tree", ["e", "x"], 1), ("go", ["o", "g"], 1), ("a", [], 0),
        ("ab", ["b"], 3)],
    "nim_sum_move": [([3, 4, 5],), ([1, 1],), ([],), ([7],), ([-1],), ([6, 5, 3, 2],), ([5, 5, 2],)],
    "rating_change": [(0, 55, 2, 55), (50, 50, 2, 100), (5, 5, 0, 100), (50, 50, 3, 9), (55, 0, 0, 55),
        (20, 33, 1, 16)],
    "league_table": [([("a", 2, 1, "b"), ("b", 0, 0, "c")],), ([],), ([("x", 1, 1, "y")],),
        ([("q", 0, 3, "p"), ("r", 2, 0, "s")],), ([("m", 1, 0, "n"), ("n", 5, 0, "m")],)],
    "trick_winner": [([("h", 5), ("h", 9), ("s", 2)], "s"), ([("h", 5), ("d", 9)], "s"), ([], "h"),
        ([("c", 4), ("c", 4)], "c"), ([("s", 7), ("d", 8), ("d", 2)], "d"),
        ([("q", 5), ("r", 3), ("q", 6), ("r", 1)], "r")],
    "rhyme_order": [(["a", "b", "c", "d"], 2), (["a", "b", "c"], 1), ([], 3), (["x"], 0),
        (["p", "q", "r", "s", "t"], 7)],
    "board_tax": [({"a": 50, "b": 39}, {"a": 5}, 3, 99), ({"a": 40}, {"a": 4}, 3, 99), ({}, {"z": 2}, 1, 9),
        ({"a": 59}, {}, 1, 4), ({"a": 99, "b": 20}, {"b": 1}, 7, 99)],
    "tile_word_score": [("quiz", {"q": 10, "z": 8}, {0}), ("", {}, {0}), ("letters", {"l": 2}, {6}),
        ("ab", {}, set()), ("sixers", {"x": 8}, {2, 9})],
    "fleet_hits": [([(0, 0, 2), (2, 1, 3)], [(0, 0), (0, 1), (2, 3)]), ([], [(0, 0)]),
        ([(1, 1, 1)], [(1, 2), (1, 0)]), ([(0, 4, 0)], []), ([(3, 2, 2)], [(3, 2), (3, 2), (3, 4)])],
    "darts_left": [(40, [(20, 2)]), (40, [(20, 1), (20, 1)]), (21, [(20, 1), (19, 1), (1, 2)]), (9, []),
        (4, [(5, 1), (2, 2), (-3, 3)]), (50, [(16, 3), (1, 2), (-7, 1)])],
    "match_score": [("AABBA", 2), ("", 3), ("ABABAA", 2), ("BB-B", 3), ("AAABBBB", 3), ("ABABABB", 3)],
    "experience_level": [(0, 10), (10, 10), (29, 10), (30, 10), (-1, 5), (5, 0), (7, 1)],
    "battle_rounds": [(5, 2, 9, 0), (4, 0, 4, 3), (3, 3, 5, 0), (2, 9, 5, -1), (4, 0, 0, 1), (6, 1, 10, 4),
        (7, 2, 30, 3)],
}
