"""Corpus, topic `words`: counting, ordering and laying out the words of a text."""


def wrap_words(text: str, width: int) -> list[str]:
    """Fill lines with words up to a width; longer words get a line of their own."""
    lines: list[str] = []
    current = ""
    for word in text.split():
        if not current:
            current = word
        elif len(current) + 1 + len(word) <= width:
            current += " " + word
        else:
            lines.append(current)
            current = word
    if current:
        lines.append(current)
    return lines


def title_words(text: str, small: list[str]) -> str:
    """Capitalise the words of a headline except small words after the first."""
    out = []
    for i, word in enumerate(text.split()):
        if i > 0 and word.lower() in small:
            out.append(word.lower())
        else:
            out.append(word[0].upper() + word[1:])
    return " ".join(out)


def make_acronym(phrase: str, min_length: int) -> str:
    """Join the initials of all words that are long enough."""
    letters = ""
    for word in phrase.replace("-", " ").split():
        if len(word) >= min_length:
            letters += word[0].upper()
    return letters


def top_words(text: str, limit: int) -> list[tuple[str, int]]:
    """Rank words by frequency and then alphabetically."""
    if limit < 1:
        return []
    counts: dict[str, int] = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ranked[:limit]


def excerpt(text: str, limit: int) -> str:
    """Cut text at a word boundary and mark the cut with three dots."""
    if limit < 3:
        raise ValueError("limit too small")
    if len(text) <= limit:
        return text
    room = limit - 3
    cut = text.rfind(" ", 0, room + 1)
    if cut <= 0:
        cut = room
    return text[:cut] + "..."


def longest_word(text: str) -> str:
    """Find the longest word; among equals the last one wins."""
    best = ""
    for word in text.split():
        word = word.strip(".,;!?")
        if len(word) >= len(best):
            best = word
    return best


def chain_score(words: list[str]) -> int:
    """Count neighbours where the next word starts with the last letter of the previous."""
    links = 0
    for prev, nxt in zip(words, words[1:]):
        if not prev or not nxt:
            continue
        if prev[-1].lower() == nxt[0].lower():
            links += 1
    return links


def doubled_words(text: str) -> list[int]:
    """List positions of words that repeat the word right before them."""
    words = text.lower().split()
    out = []
    for i in range(1, len(words)):
        if words[i] == words[i - 1]:
            out.append(i)
    return out


def plural_form(noun: str, count: int) -> str:
    """Write a count with its noun in singular or plural."""
    if not noun:
        raise ValueError("empty noun")
    if count == 1:
        return f"{count} {noun}"
    if noun.endswith("y") and noun[-2:-1] not in ("a", "e", "o", "u"):
        noun = noun[:-1] + "ies"
    elif noun[-1] in "sx" or noun[-2:] in ("ch", "sh"):
        noun += "es"
    else:
        noun += "s"
    return f"{count} {noun}"


def word_at(text: str, cursor: int) -> str:
    """Return the word that touches a cursor position."""
    if cursor < 0 or cursor > len(text):
        raise IndexError("cursor outside text")
    start = end = cursor
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[start:end]


def group_by_initial(words: list[str]) -> dict[str, list[str]]:
    """Index words under their first letter, without repeats."""
    index: dict[str, list[str]] = {}
    for word in sorted(words):
        if word == "":
            continue
        initial = word[0].lower()
        bucket = index.setdefault(initial, [])
        if word not in bucket:
            bucket.append(word)
    return index


def jaccard_percent(left: str, right: str) -> int:
    """Compare the vocabularies of two texts as a percentage."""
    a, b = set(left.split()), set(right.split())
    union = len(a | b)
    if union == 0:
        return 100
    common = len(a & b)
    return 100 * common // union


def justify_line(words: list[str], width: int) -> str:
    """Spread words over a line of given width, wider gaps first."""
    if not words:
        return " " * width
    gaps = len(words) - 1
    space = width - sum(len(w) for w in words)
    if gaps == 0 or space < gaps:
        return " ".join(words)
    each, extra = divmod(space, gaps)
    line = words[0]
    for i, word in enumerate(words[1:]):
        line += " " * (each + (1 if i < extra else 0)) + word
    return line


def keyword_distance(words: list[str], first: str, second: str) -> int:
    """Measure the smallest gap between two keywords, or -1 if one is missing."""
    best = -1
    last_first = last_second = None
    for i, word in enumerate(words):
        if word == first:
            last_first = i
        if word == second:
            last_second = i
        if last_first is not None and last_second is not None:
            gap = abs(last_first - last_second)
            if best < 0 or gap < best:
                best = gap
    return best


def drop_stopwords(words: list[str], stop: list[str], keep_first: bool) -> list[str]:
    """Remove stopwords, optionally keeping the opening word in any case."""
    blocked = {s.lower() for s in stop}
    kept = []
    for i, word in enumerate(words):
        if keep_first and i == 0:
            kept.append(word)
        elif word.lower() not in blocked:
            kept.append(word)
    return kept


def reading_minutes(text: str, per_minute: int) -> int:
    """Estimate the reading time in whole minutes, rounded up."""
    if per_minute <= 0:
        raise ValueError("speed must be positive")
    words = len(text.split())
    minutes = words // per_minute
    if words % per_minute > 0:
        minutes += 1
    return minutes


def bigram_counts(words: list[str]) -> dict[str, int]:
    """Count neighbouring word pairs, keeping those seen more than once."""
    counts: dict[str, int] = {}
    for i in range(len(words) - 1):
        pair = f"{words[i]} {words[i + 1]}"
        counts[pair] = counts.get(pair, 0) + 1
    return {pair: n for pair, n in counts.items() if n > 1}


def ladder_ok(words: list[str]) -> bool:
    """Tell if each word differs from the one before in exactly one letter."""
    for k in range(1, len(words)):
        a, b = words[k - 1], words[k]
        if len(a) != len(b):
            return False
        changed = sum(1 for x, y in zip(a, b) if x != y)
        if changed != 1:
            return False
    return True


def join_list(items: list[str], last: str) -> str:
    """Write an enumeration with commas and a final conjunction."""
    if not items:
        return ""
    if len(items) == 1:
        return items[0]
    if len(items) == 2:
        return f"{items[0]} {last} {items[1]}"
    body = ", ".join(items[:-1])
    return f"{body}, {last} {items[-1]}"


def hyphenate(word: str, chunk: int, min_tail: int) -> str:
    """Break a long word into hyphenated chunks with a minimal last piece."""
    if chunk < 1:
        raise ValueError("chunk too small")
    pieces = []
    pos = 0
    while len(word) - pos > chunk and len(word) - pos - chunk >= min_tail:
        pieces.append(word[pos:pos + chunk])
        pos += chunk
    pieces.append(word[pos:])
    return "-".join(pieces)


def sentence_lengths(text: str) -> list[int]:
    """Count the words of every sentence that ends in a stop mark."""
    lengths = []
    count = 0
    for word in text.split():
        count += 1
        if word[-1] in ".!?":
            lengths.append(count)
            count = 0
    if count > 0:
        lengths.append(count)
    return lengths


def sort_by_vowel_free_length(words: list[str]) -> list[str]:
    """Order words by their number of consonants, ties by the word itself."""
    decorated = []
    for word in words:
        weight = 0
        for ch in word.lower():
            if ch.isalpha() and ch not in "aeiou":
                weight += 1
        decorated.append((weight, word))
    decorated.sort()
    return [word for _, word in decorated]


def fill_template(template: list[str], values: dict[str, str]) -> str:
    """Replace the words that start with a dollar sign by their values."""
    out = []
    for token in template:
        if len(token) > 1 and token[0] == "$":
            name = token[1:]
            if name not in values:
                raise KeyError(name)
            out.append(values[name])
        else:
            out.append(token)
    return " ".join(out)


def first_unique_word(words: list[str]) -> str | None:
    """Return the first word that occurs exactly once, ignoring case."""
    lowered = [w.lower() for w in words]
    for word, low in zip(words, lowered):
        if lowered.count(low) == 1:
            return word
    return None


def window_hits(words: list[str], terms: list[str], size: int) -> int:
    """Find the largest number of wanted words in any window of given size."""
    if size <= 0:
        return 0
    hits = best = 0
    for i, word in enumerate(words):
        if word in terms:
            hits += 1
        if i >= size and words[i - size] in terms:
            hits -= 1
        best = max(best, hits)
    return best


def swap_name_order(name: str) -> str:
    """Turn a name into the form `Last, First M.` used in indexes."""
    parts = name.split()
    if len(parts) < 2:
        return name.strip()
    last = parts[-1]
    initials = [f"{p[0].upper()}." for p in parts[1:-1]]
    return ", ".join([last, " ".join([parts[0]] + initials)])


def match_wildcard(word: str, pattern: str) -> bool:
    """Match a word against a pattern with at most one asterisk."""
    star = pattern.find("*")
    if star < 0:
        return word == pattern
    head, tail = pattern[:star], pattern[star + 1:]
    if "*" in tail:
        raise ValueError("more than one asterisk")
    if len(word) < len(head) + len(tail):
        return False
    return word.startswith(head) and word.endswith(tail)


INPUTS: dict[str, list[tuple[object, ...]]] = {
    "wrap_words": [("the quick brown fox", 9), ("a bb ccc", 4), ("", 5), ("longword x", 3), ("ab cd", 5),
        ("ab cd", 4)],
    "title_words": [("the lord of the rings", ["of", "the"]), ("", []), ("a TALE", ["a"]),
        ("an An", ["an"]), ("x", [])],
    "make_acronym": [("portable network graphics", 1), ("state-of the art", 3), ("", 1), ("a bc def", 2),
        ("ab", 3)],
    "top_words": [("b a b c a b", 2), ("z y", 1), ("", 3), ("a A b", 5), ("a a", 0), ("q w e q", 1)],
    "excerpt": [("hello big world", 11), ("short", 5), ("abcdefgh", 6), ("ab", 2), ("one two", 6),
        ("abcd", 3), (" abcdefghi", 7), ("a bcdefg", 4)],
    "longest_word": [("a bb cc",), ("wow! yes.",), ("",), ("three, two",), ("abc xyz, q",)],
    "chain_score": [(["apple", "egg", "Goat"],), ([],), (["ab", "", "bc"],), (["x"],), (["no", "go", "on"],)],
    "doubled_words": [("the the cat",), ("",), ("a b a",), ("No no no",), ("x y y",)],
    "plural_form": [("city", 2), ("day", 3), ("box", 0), ("cat", 1), ("", 2), ("dish", 5), ("car", -1),
        ("bus", 1)],
    "word_at": [("hello big world", 7), ("ab cd", 2), ("ab", -1), ("ab", 3), ("ab  cd", 3), ("xyz", 3),
        ("", 0), ("q r", 0)],
    "group_by_initial": [(["bee", "Ant", "ape", "bee"],), ([],), (["", "x"],), (["b", "a"],),
        (["aa", "ab", "aa"],)],
    "jaccard_percent": [("a b c", "b c d"), ("", ""), ("a", ""), ("x y", "y x"), ("a b c", "c")],
    "justify_line": [(["a", "bb", "c"], 9), ([], 3), (["word"], 8), (["ab", "cd"], 4), (["ab", "cd"], 5),
        (["a", "b", "c", "d"], 12)],
    "keyword_distance": [(["a", "x", "b", "a"], "a", "b"), (["a"], "a", "b"), ([], "a", "b"),
        (["q", "q"], "q", "q"),
        (["b", "c", "c", "a", "c", "b"], "a", "b")],
    "drop_stopwords": [(["The", "cat", "the"], ["the"], True), (["The", "cat"], ["THE"], False),
        ([], ["a"], True),
        (["a", "b", "a"], [], False), (["x", "x"], ["x"], True)],
    "reading_minutes": [("a b c d e", 2), ("a b", 2), ("", 5), ("a", 0), ("one two three", 1), ("a b", -1)],
    "bigram_counts": [(["a", "b", "a", "b"],), ([],), (["x"],), (["a", "a", "a"],),
        (["a", "b", "c", "b", "c"],)],
    "ladder_ok": [(["cat", "cot", "cog"],), (["cat", "dog"],), ([],), (["ab", "abc"],), (["aa", "aa"],),
        (["a", "b"],)],
    "join_list": [(["a", "b", "c"], "and"), (["x", "y"], "or"), (["solo"], "and"), ([], "or"),
        (["p", "q", "r", "s"], "or")],
    "hyphenate": [("abcdefgh", 3, 2), ("abcdef", 3, 2), ("abcd", 3, 2), ("", 2, 1), ("abc", 0, 1),
        ("abcde", 2, 1), ("xy", 1, 0), ("abcdefg", 3, 2)],
    "sentence_lengths": [("I am. Go now! Why",), ("",), ("One two three.",), ("no stop here",), ("A? B.",)],
    "sort_by_vowel_free_length": [(["tree", "sky", "eau"],), ([],), (["b", "a"],), (["io", "ai"],),
        (["R2-D2", "Xyz", "up"],)],
    "fill_template": [(["hi", "$name"], {"name": "Bo"}), (["$"], {}), (["$x"], {}), ([], {"a": "b"}),
        (["$a", "b$a"], {"a": "q"})],
    "first_unique_word": [(["a", "b", "A"],), ([],), (["x", "x"],), (["Solo"],), (["q", "Q", "r", "s"],)],
    "window_hits": [(["a", "x", "a", "a"], ["a"], 2), ([], ["a"], 1), (["a", "b"], ["a", "b"], 0),
        (["a", "a", "a"], ["a"], 1),
        (["a", "x", "b", "x", "a"], ["a", "b"], 3), (["a", "b"], ["b"], -2)],
    "swap_name_order": [("Ada Lovelace",), ("john ronald reuel Tolkien",), (" Plato ",), ("",),
        ("Guy de Maupassant",)],
    "match_wildcard": [("report.txt", "rep*txt"), ("abc", "abc"), ("aba", "ab*ba"), ("x", "**"),
        ("abba", "ab*ba"),
        ("abc", "*d"), ("", "*"), ("abd", "x*d")],
}
