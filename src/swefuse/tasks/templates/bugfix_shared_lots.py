"""Threads hand in items that go on in lots, and share a few slots; locks, lots or slots are handled wrongly."""

from swefuse.records import Kind
from swefuse.tasks.template import Template, integers, one_of, plural, rows, words

_REFUSE = 'if not self.$slots.acquire(blocking=False):\n    raise $busy("no slot is free")'
GOOD = {
    "full": "len(self.$waiting) >= self.$size",
    "send": "self.$send(lot)",
    "take": "lot, self.$waiting = self.$waiting, []",
    "back": "self.$waiting[:0] = lot",
    "last": "lot = self.$take()",
    "before": "",
    "free": f"{_REFUSE}\ntry:\n    return job(*arguments)\nfinally:\n    self.$slots.release()",
}
# fmt: off
BUGS = (
    ("full", "len(self.$waiting) > self.$size",
     "Lots go out with $size_1 $things instead of $size_0.",
     "A lot is full as soon as it has the size, not when it has more."),
    ("send", "with self.lock:\n    self.$send(lot)",
     "While the receiver is at work on a lot, no other thread can put in anything; they all wait for it.",
     "The lot has been taken out already, so the receiver can be called after the lock was given back."),
    ("take", "lot = self.$waiting\nself.$waiting.clear()",
     "The receiver is called in time, but with empty lists.",
     "The lot and what is cleared are one and the same list; the lot has to be kept and a new list begun."),
    ("back", "self.$waiting.extend(lot)",
     "When the receiver fails, what it did not take is sent later, but in the wrong order.",
     "The lot is put behind what came in after it, though it has to go first."),
    ("back", "pass",
     "When the receiver fails once, the whole lot is lost.",
     "The lot was taken out before it was sent and is not put back when that fails."),
    ("last", "lot = []",
     "The last few $things never arrive unless they make up a full lot; `$close` should send them.",
     "Closing takes out nothing, so that a lot that is not full stays behind."),
    ("before", "self.sent += len(lot)",
     "`sent` is too high: each lot counts twice.",
     "The number is added to before the receiver is called and again after it."),
    ("free", f"{_REFUSE}\nresult = job(*arguments)\nself.$slots.release()\nreturn result",
     "After a few jobs that ended with an error, `$gate` says that it is busy although nothing runs.",
     "The slot is only given back when a job goes well, not when it raises."),
    ("free", "try:\n    " + _REFUSE.replace("\n", "\n    ") + "\n    return job(*arguments)\nfinally:\n    self.$slots.release()",
     "Whoever is turned away by `$gate` gets in at the second try, although all slots are still in use.",
     "A slot is given back even where none was taken, because being turned away ends the block as well."),
)
# fmt: on

TEMPLATE = Template(
    kind=Kind.BUGFIX,
    domain="concurrency",
    instruction="$bug_complaint $place",
    parameters={
        "noun": words("thing", 1),
        "module": one_of("${thing}_lots", "sending", "buffers", "${thing}_threads", "outbox"),
        "batcher": one_of("${Thing}Lots", "LotSender", "${Thing}Buffer", "Outbox", "${Thing}Sender", "SharedBuffer"),
        "gate": one_of("${Thing}Gate", "Slots", "FewAtOnce", "${Thing}Limit", "Turnstile"),
        "busy": one_of("Busy", "NoSlot", "${Thing}Busy", "TooMany${Thing}Jobs"),
        "ended": one_of("Closed", "${Thing}BufferClosed", "NoMoreItems", "AlreadyClosed"),
        "put": one_of("put", "add", "hand_in", "add_${thing}", "push"),
        "take": one_of("_take", "_empty", "_take_lot", "_next_lot"),
        "send": one_of("_send", "_pass_on", "_deliver", "_ship"),
        "close": one_of("close", "finish", "stop", "end"),
        "run": one_of("run", "work", "call", "run_job", "enter"),
        "waiting": one_of("waiting", "held", "kept", "pending", "${things}"),
        "size": one_of("size", "lot_size", "most", "per_lot"),
        "slots": one_of("slots", "free", "places", "seats"),
        "receive": one_of("receive", "sink", "target", "deliver", "consumer"),
        "lot": integers(3, 9),
        "none": one_of("if not lot:", "if len(lot) == 0:"),
        "counted": one_of("with self.lock:\n    self.sent += len(lot)", "with self.lock:\n    self.sent = self.sent + len(lot)"),
        "jobs": integers(2, 6),
        "place": one_of(
            "It happens in `$module.py`.", "See `$batcher` and `$gate` in `$module.py`.", "Threads use it all day ($module.py)."
        ),
        "bug": rows(*({**GOOD, place: text, "complaint": said, "why": why} for place, text, said, why in BUGS)),
    },
    where=lambda v: v["noun_0"] != "test",
    derive=lambda v: {
        "thing": v["noun_0"],
        "Thing": v["noun_0"].title(),
        "things": plural(v["noun_0"]),
        "size_0": v["lot"],
        "size_1": v["lot"] + 1,
    },
    files={
        "$module.py": '''
            """Items of the $thing service come from many threads and go on in lots."""

            import threading


            class $ended(RuntimeError):
                """Nothing can be put in any more."""


            class $busy(RuntimeError):
                """All slots are in use."""


            class $batcher:
                """Collects what threads put in; whoever fills a lot calls the receiver with it, without holding the lock."""

                def __init__(self, $receive, $size=$lot):
                    self.$receive = $receive
                    self.$size = $size
                    self.lock = threading.RLock()
                    self.closed = False
                    self.sent = 0
                    self.$waiting = []

                def $put(self, item):
                    """Put in one item. Raises $ended after the end."""
                    lot = []
                    with self.lock:
                        if self.closed:
                            raise $ended("closed")
                        self.$waiting.append(item)
                        if $bug_full:
                            lot = self.$take()
                    $bug_send

                def $close(self):
                    """Send what is left; nothing can be put in from now on."""
                    with self.lock:
                        self.closed = True
                        $bug_last
                    $bug_send

                def $take(self):
                    $bug_take
                    return lot

                def $send(self, lot):
                    $none
                        return
                    try:
                        $bug_before
                        self.$receive(lot)
                    except Exception:
                        with self.lock:
                            $bug_back
                        raise
                    $counted


            class $gate:
                """Lets a few jobs run at a time and turns others away."""

                def __init__(self, count=$jobs):
                    self.$slots = threading.Semaphore(count)

                def $run(self, job, *arguments):
                    """What a job returns. Raises $busy if there is no slot for it."""
                    $bug_free
        ''',
    },
    repair={f"bug_{place}": text for place, text in GOOD.items()},
    tests={
        "test_$module.py": """
            import threading

            import pytest

            from $module import $batcher, $busy, $ended, $gate


            def elsewhere(job):
                thread = threading.Thread(target=job)
                thread.start()
                thread.join()


            def test_lots_are_full_and_the_last_is_sent_too():
                lots = []
                made = $batcher(lambda lot: lots.append(list(lot)))
                for number in range($lot * 2 + 1):
                    made.$put(number)
                made.$close()
                assert [len(lot) for lot in lots] == [$lot, $lot, 1]
                assert made.sent == $lot * 2 + 1
                with pytest.raises($ended):
                    made.$put(0)


            def test_the_lock_is_free_during_a_call():
                free = []

                def look():
                    if made.lock.acquire(blocking=False):
                        free.append(True)
                        made.lock.release()

                made = $batcher(lambda lot: elsewhere(look), 1)
                made.$put("a")
                assert free == [True]


            def test_what_failed_goes_first():
                lots = []

                def receive(lot):
                    lots.append(list(lot))
                    if len(lots) == 1:
                        made.$put("late")
                        raise OSError("not now")

                made = $batcher(receive, 2)
                made.$put("a")
                with pytest.raises(OSError):
                    made.$put("b")
                made.$close()
                assert lots == [["a", "b"], ["a", "b", "late"]]
                assert made.sent == 3


            def test_many_threads():
                lots = []
                made = $batcher(lots.append)
                threads = [threading.Thread(target=made.$put, args=(number,)) for number in range($lot * 4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert sorted(number for lot in lots for number in lot) == list(range($lot * 4))


            def test_a_slot_is_free_again_after_an_error():
                gate = $gate()
                for _ in range($jobs + 1):
                    with pytest.raises(ZeroDivisionError):
                        gate.$run(divmod, 1, 0)
                assert gate.$run(divmod, 7, 2) == (3, 1)


            def test_no_slot_is_left():
                gate = $gate(1)

                def job():
                    for _ in range(2):
                        with pytest.raises($busy):
                            gate.$run(abs, -1)
                    return "done"

                assert gate.$run(job) == gate.$run(job) == "done"
        """,
    },
    thoughts="$bug_why",
)
