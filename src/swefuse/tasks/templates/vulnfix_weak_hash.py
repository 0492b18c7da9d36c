"""Signatures, fingerprints and stored passwords that rest on MD5 or SHA-1."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, class_name, integers, name, one_of, rows

# two files of the same MD5 (Wang and others, 2004): what they share, and where they differ
BLOCK = (
    "d131dd02c5e6eec4693d9a0698aff95c2fcab5{0}712467eab4004583eb8fb7f8955ad340609f4b30283e4888325{1}1415a085125e8f7"
    "cdc99fd91dbd{2}280373c5bd8823e3156348f5bae6dacd436c919c6dd53e2{3}487da03fd02396306d248cda0e99f33420f577ee8ce54"
    "b67080{4}80d1ec69821bcb6a8839396f965{5}b6ff72a70"
)
LINKS = '''
class $cls:
    """Links that only this server can make, and which hold until a time."""

    def __init__(self, $secret):
        self.$secret = $secret.encode()

    def $sign(self, $path, $until):
        """The signature of a path and the second up to which it holds."""
        $text = f"{$path}$mark{$until}".encode()
        return $bad

    def $check(self, $path, query, now):
        """The status of a request for a path whose query has the keys until and $key."""
        $until = int(query.get("until", 0))
        if not hmac.compare_digest(query.get("$key", ""), self.$sign($path, $until)):
            return 403
        return 200 if now <= $until else 410
'''
UPLOADS = '''
class $cls:
    """Uploaded files; one that is there already is kept once."""

    def __init__(self):
        self.$kept = {}

    def $sign(self, $text):
        """The name under which the content of a file is kept."""
        return $bad

    def $check(self, $text):
        """Keep a file. Gives status 201 for a new one and 200 for one that is there, with its $key."""
        $path = self.$sign($text)
        status = 200 if $path in self.$kept else 201
        self.$kept.setdefault($path, $text)
        return {"status": status, "$key": $path}
'''
PASSWORDS = '''
class $cls:
    """What is kept of the passwords of users."""

    def __init__(self):
        self.$kept = {}

    def $sign(self, $path, $text):
        """Keep the password of a user."""
        $bad

    def $check(self, $path, $text):
        """The status of a login: 200 for the right password, else 401."""
        if $path not in self.$kept:
            return 401
        $again
'''
LINKS_TEST = """
def test_a_link_holds_until_its_time():
    made = $cls("$secret_text")
    query = {"until": "$seconds", "$key": made.$sign("/a/b", $seconds)}
    assert [made.$check("/a/b", query, now) for now in (0, $seconds, $seconds + 1)] == [200, 200, 410]
    assert made.$check("/a/c", query, 0) == 403


def test_signatures_are_hmac_sha256():
    want = hmac.new(b"$secret_text", b"/a/b$mark$seconds", hashlib.sha256).hexdigest()
    assert $cls("$secret_text").$sign("/a/b", $seconds) == want
"""
UPLOADS_TEST = """
ONE = bytes.fromhex("$one")
OTHER = bytes.fromhex("$other")


def test_a_file_is_kept_once():
    made = $cls()
    assert [made.$check(b"$secret_text")["status"] for _ in range(2)] == [201, 200]
    assert list(made.$kept.values()) == [b"$secret_text"]


def test_two_files_are_never_taken_for_one():
    made = $cls()
    assert [made.$check(ONE)["status"], made.$check(OTHER)["status"]] == [201, 201]
    assert sorted(made.$kept.values()) == sorted([ONE, OTHER])
"""
PASSWORDS_TEST = """
def test_only_the_right_password_opens():
    made = $cls()
    made.$sign("ada", "$secret_text")
    assert made.$check("ada", "$secret_text") == 200
    assert [made.$check("ada", "other"), made.$check("bob", "$secret_text")] == [401, 401]


def test_equal_passwords_are_kept_differently():
    made = $cls()
    made.$sign("ada", "$secret_text")
    made.$sign("bob", "$secret_text")
    assert made.$kept["ada"] != made.$kept["bob"]
"""
SALTED = "salt = os.urandom(16)\nself.$kept[$path] = salt, hashlib.scrypt($text.encode(), salt=salt, n=2**14, r=8, p=1)"
AGAIN = """
salt, $word = self.$kept[$path]
found = hashlib.scrypt($text.encode(), salt=salt, n=2**14, r=8, p=1)
return 200 if hmac.compare_digest($word, found) else 401
"""
SAME = "return 200 if hmac.compare_digest(self.$kept[$path], hashlib.$weak($text.encode()).hexdigest()) else 401"
SIGNED = {"imports": "import hashlib\nimport hmac", "tested": "import hashlib\nimport hmac\n\n", "code": LINKS.strip(),
"test": LINKS_TEST.strip(), "good": "hmac.new(self.$secret, $text, hashlib.sha256).hexdigest()",
          "ask": "`$cls.$sign` of $module.py makes its signatures of a broken hash and simply puts the secret in front. They must "
          "be "
          "HMAC-SHA256 of the same text with the secret as the key, in hex.",
          "why": "A plain hash of secret and text can be extended, and this one is broken besides. HMAC-SHA256 is made for "
          "this."}  # fmt: skip

TEMPLATE = Template(
    kind=Kind.VULNFIX,
    domain="web handlers",
    instruction="$begin $case_ask",
    parameters={
        "module": one_of("signing", "security", "links", "trust", "guard", "proofs", "seals"),
        "cls": class_name("quality", "things"),
        "sign": name("seal", "thing"),
        "check": name("answer", "thing"),
        "kept": name("list", "kept"),
        "secret": name("thing", "secret"),
        "path": name("thing", "key"),
        "until": name("last", "thing"),
        "text": name("text", "text"),
        "word": name("quality", "word"),
        "key": name("text"),
        "mark": one_of(":", "|", "&until=", "@", ";"),
        "secret_text": one_of("river stone", "blue lantern", "seven geese", "quiet harbour", "old copper"),
        "seconds": integers(300, 9000, 100),
        "weak": one_of("md5", "sha1"),
        "begin": one_of("From the security review:", "An auditor wrote:", "Reported by a customer:", "Found by a tester:"),
        "case": rows(
            {**SIGNED, "bad": "hashlib.$weak(self.$secret + $text).hexdigest()"},
            {**SIGNED, "bad": 'hashlib.new("$weak", self.$secret + $text).hexdigest()'},
            {"imports": "import hashlib", "tested": "", "code": UPLOADS.strip(), "test": UPLOADS_TEST.strip(),
             "bad": "hashlib.md5($text).hexdigest()",
             "good": "hashlib.sha256($text).hexdigest()",
             "ask": "two different uploads were taken for the same file by `$cls.$check` in $module.py, and the second one was "
             "lost. "
             "They had been made for this.",
             "why": "Two files with the same MD5 are easily made, so it cannot tell files apart. No such pair is known for "
             "SHA-256."},
            {"imports": "import hashlib\nimport hmac$os", "tested": "", "code": PASSWORDS.strip(), "test": PASSWORDS_TEST.strip(),
             "bad": "self.$kept[$path] = hashlib.$weak($text.encode()).hexdigest()", "good": SALTED, "again": SAME,
             "against": AGAIN.strip(),
             "ask": "users with the same password have the same entry in `$kept` of $cls ($module.py), and it is quickly guessed. "
             "Keep "
             "passwords as one should; nothing is stored yet that has to be read.",
             "why": "A fast hash without salt makes equal passwords visible and guessing cheap. A salted scrypt does neither."},
        ),
    },
    derive=lambda v: {
        "os": "", "bad": v["case_bad"], "again": v.get("case_again", ""), "against": v.get("case_against", ""),
        "one": BLOCK.format(*"87fba2"), "other": BLOCK.format(*"0f732a"),
    },
    files={"$module.py": '"""What the server can recognise again."""\n\n$case_imports\n\n\n$case_code\n'},
    repair={"os": "\nimport os", "bad": "$case_good", "again": "$against"},
    tests={"test_$module.py": "${case_tested}from $module import $cls\n\n\n$case_test\n"},
    goal={"rules": "S324"},
    thoughts="$case_why",
)  # fmt: skip
