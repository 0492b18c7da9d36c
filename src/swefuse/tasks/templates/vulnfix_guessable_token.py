"""Tokens and codes of a store that several threads use, drawn from the ordinary random numbers."""

from textwrap import dedent

from swefuse.records import Kind
from swefuse.tasks.template import Template, Values, class_name, integers, name, one_of, rows

SESSIONS = '''
class $cls:
    """Who is logged in, by a token. Several threads may use it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._$kept = {}

    def _new(self):
        $code

    def $issue(self, $who):
        """A new token for somebody."""
        with self._lock:
            $token = self._new()
            while $token in self._$kept:
                $token = self._new()
            self._$kept[$token] = $who
            return $token

    def $take(self, $token):
        """Whose token it is; None for one that is not known."""
        with self._lock:
            return self._$kept.get($token)

    def $drop(self, $who):
        """Forget all tokens of somebody, and say how many they were."""
        with self._lock:
            gone = [$token for $token, owner in self._$kept.items() if owner == $who]
            for $token in gone:
                del self._$kept[$token]
            return len(gone)
'''
CODES = '''
def _new():
    $code


class $cls:
    """Codes that may be used so often and then are gone. Several threads may use it."""

    def __init__(self, uses=1):
        self._lock, self._uses = threading.RLock(), uses
        self._$kept = {}

    def $issue(self, $who):
        """A new code for somebody."""
        $token = _new()
        with self._lock:
            if $token in self._$kept:
                return self.$issue($who)
            self._$kept[$token] = [$who, self._uses]
        return $token

    def $take(self, $token):
        """Use a code once: whose it is, or None when it is unknown or used up."""
        with self._lock:
            entry = self._$kept.get($token, [None, 0])
            if entry[1] < 1:
                return None
            entry[1] -= 1
            return entry[0]

    def $drop(self, $who):
        """Make all codes of somebody useless, and say how many still were good."""
        with self._lock:
            good = [entry for entry in self._$kept.values() if entry[0] == $who and entry[1] > 0]
            for entry in good:
                entry[1] = 0
            return len(good)
'''


def _row(bad: str, good: str, shape: str, module: str = "secrets") -> Values:
    return {"bad": dedent(bad).strip(), "good": dedent(good).strip(), "shape": shape, "module": module}


TEMPLATE = Template(
    kind=Kind.VULNFIX,
    domain="concurrency",
    instruction="$ask",
    parameters={
        "module": one_of("sessions", "tokens", "logins", "access", "codes", "keys", "doors"),
        "cls": class_name("quality", "keeper"),
        "issue": name("issue", "thing"),
        "take": name("accept", "thing"),
        "drop": name("revoke", "things"),
        "kept": name("quality", "list"),
        "who": name("person", "name"),
        "token": name("quality", "token"),
        "size": integers(16, 40, 4),
        "people": integers(20, 60, 5),
        "ask": one_of(
            "Whoever has seen a few results of `$cls.$issue` in $module.py can work out the following ones. They must not be "
            "predictable; length and characters stay as they are.",
            "A tester guessed what `$issue` ($module.py) would give the next customer. Make that impossible without changing how "
            "the "
            "result looks.",
            "`$cls` of $module.py hands out the same sequence again after random.seed, which another library of ours calls. Nobody "
            "may be able to foretell what it hands out. The form has to stay.",
        ),
        "way": rows(
            _row('return "".join(random.choice(string.ascii_letters + string.digits) for _ in range($size))',
                 'return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range($size))',
                 "[a-zA-Z0-9]{$size}"),
            _row('return "".join(random.choices("0123456789abcdef", k=$size))', "return secrets.token_hex($size // 2)",
                 "[0-9a-f]{$size}"),
            _row('return f"{random.getrandbits(128):032x}"', "return secrets.token_hex(16)", "[0-9a-f]{32}"),
            _row('return f"{random.randint(0, 10**$size - 1):0${size}d}"', 'return f"{secrets.randbelow(10**$size):0${size}d}"',
                 "[0-9]{$size}"),
            _row('$token = ""\nwhile len($token) < $size:\n    $token += str(random.randrange(10))\nreturn $token',
                 '$token = ""\nwhile len($token) < $size:\n    $token += str(secrets.randbelow(10))\nreturn $token',
                 "[0-9]{$size}"),
            _row('number = int(random.random() * 16**$size)\nreturn f"{number:0${size}X}"',
                 'number = secrets.randbelow(16**$size)\nreturn f"{number:0${size}X}"', "[0-9A-F]{$size}"),
            _row('parts = [str(random.randint(1000, 9999)) for _ in range($size // 4)]\nreturn "-".join(parts)',
                 'parts = [str(1000 + secrets.randbelow(9000)) for _ in range($size // 4)]\nreturn "-".join(parts)',
                 r"[1-9][0-9]{3}(-[1-9][0-9]{3})+"),
        ),
        "use": rows({"code": SESSIONS.strip(), "times": "2"}, {"code": CODES.strip(), "times": "1"}),
    },
    derive=lambda v: {
        "code": "$way_bad", "source": "random",
        "string": "import string\n" if "string." in v["way_bad"] else "",
    },
    files={
        "$module.py": '''
            """Hands out what opens a door later."""

            import $source
            ${string}import threading


            $use_code
        ''',
    },
    repair={"code": "$way_good", "source": "secrets"},
    tests={
        "test_$module.py": """
            import datetime
            import importlib
            import os
            import random
            import re
            import threading
            import time
            import uuid

            import $module
            from $module import $cls

            NAMES = "time", "monotonic", "perf_counter", "process_time", "thread_time"
            CLOCKS = [f"{name}{end}" for name in NAMES for end in ("", "_ns")]
            WHEN = datetime.datetime(2020, 1, 2, 3, 4, 5, 678)


            class Stopped(datetime.datetime):
                @classmethod
                def now(cls, tz=None):
                    return WHEN

                @classmethod
                def utcnow(cls):
                    return WHEN


            def test_nobody_can_foretell_them(monkeypatch):
                made = []
                with monkeypatch.context() as patch:
                    for clock in CLOCKS:
                        patch.setattr(time, clock, lambda: $size)
                    patch.setattr(datetime, "datetime", Stopped)
                    patch.setattr(os, "getpid", lambda: $size)
                    patch.setattr(uuid, "uuid1", lambda: uuid.UUID(int=$size))
                    for _ in range(3):
                        fresh = importlib.reload($module)
                        random.seed($size)
                        made.append(fresh.$cls().$issue("ada"))
                importlib.reload($module)
                assert len(set(made)) == 3


            def test_their_form():
                assert re.fullmatch(r"$way_shape", $cls().$issue("ada"))


            def test_who_is_known_until_revoked():
                keeper = $cls()
                first, second, other = keeper.$issue("ada"), keeper.$issue("ada"), keeper.$issue("bob")
                assert keeper.$take(first) == "ada"
                assert keeper.$drop("ada") == $use_times
                assert [keeper.$take(second), keeper.$take("none"), keeper.$take(other)] == [None, None, "bob"]


            def test_threads_share_it():
                keeper, found = $cls(), {}

                def work(person):
                    found[person] = keeper.$issue(person)

                threads = [threading.Thread(target=work, args=(f"person {at}",)) for at in range($people)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert len(set(found.values())) == $people
                assert all(keeper.$take(code) == person for person, code in found.items())
        """,
    },
    goal={"rules": "S311"},
    thoughts="The generator of random can be worked out and seeded again, so `$issue` is predictable. secrets draws from the "
    "system.",
)  # fmt: skip
