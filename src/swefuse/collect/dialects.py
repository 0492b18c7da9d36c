"""How an agent writes its actions: the compact grammar, or calls of tools. Both mean the same ``Action`` objects.

A dialect says what the agent is told, turns the steps so far into a conversation, and reads what the policy wrote. Only that is
ever read: text in a file or in an observation that looks like an action is text. What does not mean exactly one action is refused
with the reason, which the agent gets to see.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import ValidationError

from swefuse.collect import actions
from swefuse.errors import DataError, PatchError, UserError, nearest
from swefuse.policy.base import Message, Reply, Role, ToolCall
from swefuse.records import Action, Step, Task

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>\s*\Z", re.DOTALL)
_OPEN = "<tool_call>"
_ROLES: dict[str, Role] = {"system": "system", "user": "user"}  # of turns before the first answer
CONVERSATION = "conversation"  # a key of provenance.parameters
_TEXT, _LINE = {"type": "string"}, {"type": "integer", "minimum": 1}
_FIELDS: dict[str, tuple[str, dict[str, dict[str, Any]], tuple[str, ...]]] = {
    "view": (
        "Show a file with its lines numbered; with 'line' what stands around that line.",
        {"path": _TEXT, "line": _LINE},
        ("path",),
    ),
    "search": ("Show every line of any file that holds a text.", {"text": _TEXT}, ("text",)),
    "edit": (
        "Replace text that begins on a line. 'old' is the text that stands there, without the line number; with an empty 'old', "
        "'new' is inserted as lines before that line. 'nth' says which occurrence on the line is meant.",
        {"path": _TEXT, "line": _LINE, "nth": _LINE, "old": _TEXT, "new": _TEXT},
        ("path", "line"),
    ),
    "create": ("Write a new file.", {"path": _TEXT, "text": _TEXT}, ("path", "text")),
    "test": ("Run the tests and show what they say.", {}, ()),
    "undo": ("Take the last edit back.", {}, ()),
    "submit": ("Say that the work is done. Nothing can be changed after that.", {}, ()),
}
_WORK = (
    "You work on code, one action a turn. Your work is judged by tests, some of which you may not see; test files stay as they are."
)
_GRAMMAR = """Answer with one action, and before it, if you like, what you think, in lines that begin with '#'. The actions:
@view PATH
@view PATH:LINE
@search TEXT
@edit PATH:LINE
-the text that stands there, without the line number
+the text that is to stand there
@create PATH
+each line of the new file
@test
@undo
@submit
The second form shows what stands around a line. An edit without '-' lines inserts its '+' lines before LINE, one without '+'
lines deletes. PATH:LINE*2 means the second occurrence of the old text on that line. Nothing may stand behind the action."""


class Dialect(Protocol):
    """See the module's text."""

    name: str
    tools: tuple[dict[str, Any], ...]

    def told(self, task: Task) -> str:
        """What the agent is told at the start."""
        ...

    def read(self, reply: Reply) -> tuple[str, Action, str]:
        """Thought, action and the text to keep of a reply. Raises PatchError with the reason where it is not one action."""
        ...

    def kept(self, reply: Reply) -> str:
        """The text to keep of a reply that is no action."""
        ...

    def render(self, action: Action, thought: str) -> str:
        """What ``read`` reads as this thought and action."""
        ...

    def messages(self, task: Task, steps: Sequence[Step]) -> tuple[Message, ...]:
        """The conversation after these steps."""
        ...


def conversation(task: Task) -> tuple[tuple[Message, ...], tuple[dict[str, Any], ...]] | None:
    """The turns that an episode from elsewhere opens with, and its tools; None for a task that this project opens by itself.

    They lie in ``provenance.parameters[CONVERSATION]`` as JSON: ``{"turns": [{"role", "content"}, ...], "tools": [...]}``. Raises
    DataError where that is something else.
    """
    text = task.provenance.parameters.get(CONVERSATION)
    if text is None:
        return None
    try:
        found = json.loads(text)
        turns = tuple(Message(_ROLES[turn["role"]], str(turn["content"])) for turn in found["turns"])
        tools = tuple(dict(tool) for tool in found.get("tools", []))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"task {task.id}: its opening conversation cannot be read: {error!r}") from error
    if not turns:
        raise DataError(f"task {task.id}: its opening conversation has no turn")
    return turns, tools


def what_to_do(task: Task) -> str:
    """The instruction, or that much of it that is told when it is hidden."""
    return "The tests fail. Find out why and repair the code." if task.hide_instruction else task.instruction


def _paths(task: Task) -> str:
    others = sorted(path for path in task.files if path not in task.protected)
    shown = [*task.editable, *(path for path in others if path not in task.editable)][:40]
    more = len({*others, *task.editable}) - len(shown)
    return "Files: " + ", ".join(shown) + (f" and {more} more" if more > 0 else "") + "."


class Compact:
    """The grammar of ``collect.actions``, in plain text."""

    name = "compact"
    tools: tuple[dict[str, Any], ...] = ()

    def told(self, task: Task) -> str:
        """See ``Dialect``."""
        return f"{_WORK}\n\n{what_to_do(task)}\n{_paths(task)}\n\n{_GRAMMAR}"

    def read(self, reply: Reply) -> tuple[str, Action, str]:
        """See ``Dialect``. A missing last line feed is forgiven, since the end of a message says as much."""
        text = self.kept(reply)
        thought, action = actions.parse(text)
        return thought, action, text

    def kept(self, reply: Reply) -> str:
        """See ``Dialect``."""
        return reply.text if reply.text.endswith("\n") else f"{reply.text}\n"

    def render(self, action: Action, thought: str) -> str:
        """See ``Dialect``."""
        return actions.render(action, thought)

    def messages(self, task: Task, steps: Sequence[Step]) -> tuple[Message, ...]:
        """See ``Dialect``."""
        found = [Message("user", self.told(task))]
        for step in steps:
            found += [Message("assistant", step.raw.removesuffix("\n")), Message("user", step.observation)]
        return tuple(found)


class Tools:
    """Calls of tools: as a chat protocol has them, or written into the text between ``<tool_call>`` and ``</tool_call>``."""

    name = "tools"

    def __init__(self) -> None:
        self.tools = tuple(
            {
                "type": "function",
                "function": {
                    "name": name, "description": words,
                    "parameters": {
                        "type": "object", "properties": fields, "required": list(required), "additionalProperties": False,
                    },
                },
            }
            for name, (words, fields, required) in _FIELDS.items()
        )  # fmt: skip

    def told(self, task: Task) -> str:
        """See ``Dialect``."""
        return f"{_WORK} An action is the call of a tool.\n\n{what_to_do(task)}\n{_paths(task)}"

    def read(self, reply: Reply) -> tuple[str, Action, str]:
        """See ``Dialect``."""
        raw = self.kept(reply)
        thought, action = meaning(raw)
        return thought, action, raw

    def kept(self, reply: Reply) -> str:
        """See ``Dialect``. Calls that came apart from the text are written into it, so that a step is one text in either case."""
        calls = "".join(in_text(call) for call in reply.tool_calls)
        return f"{reply.text.rstrip()}\n{calls}" if calls and reply.text.strip() else calls or reply.text

    def render(self, action: Action, thought: str) -> str:
        """See ``Dialect``."""
        return render_call(action, thought)

    def messages(self, task: Task, steps: Sequence[Step]) -> tuple[Message, ...]:
        """See ``Dialect``. Each result names the call that it answers; an answer without a call is answered by the user."""
        found = [Message("user", self.told(task))]
        for number, step in enumerate(steps, 1):
            text, calls = _divided(step.raw, f"call_{number}")
            found.append(Message("assistant", text, calls))
            found += [Message("tool", step.observation, call=call.id) for call in calls] or [Message("user", step.observation)]
        return tuple(found)


DIALECTS: dict[str, Dialect] = {"compact": Compact(), "tools": Tools()}


def dialect(name: str) -> Dialect:
    """A dialect by its name. Raises UserError where there is none."""
    if name not in DIALECTS:
        raise UserError(f"there is no dialect {name!r}{nearest(name, DIALECTS)}; dialects: {', '.join(DIALECTS)}")
    return DIALECTS[name]


def meaning(raw: str) -> tuple[str, Action]:
    """Thought and action of what was written, in either dialect. Raises PatchError where that is not one action."""
    if _OPEN not in raw:
        return actions.parse(raw)
    if raw.count(_OPEN) > 1:
        raise PatchError("one call a turn; the others were not carried out")
    match = _CALL.search(raw)
    if match is None:
        raise PatchError("the call has no end, or text stands behind it")
    call = _object(match[1], "the call")
    name, arguments = call.get("name"), call.get("arguments", {})
    if not isinstance(name, str) or name not in _FIELDS:
        raise PatchError(f"there is no tool {name!r}{nearest(str(name), _FIELDS)} (tools: {', '.join(_FIELDS)})")
    if isinstance(arguments, str):
        arguments = _object(arguments, "the arguments")
    if not isinstance(arguments, dict):
        raise PatchError(f"the arguments of {name} must be an object")
    return raw[: match.start()].strip(), _action(name, arguments)


def render_call(action: Action, thought: str = "") -> str:
    """The text of an action as a call, after a thought: what ``meaning`` reads."""
    fields = {field: getattr(action, field) for field in _FIELDS[action.name][1]}
    given = {field: value for field, value in fields.items() if field in _FIELDS[action.name][2] or value not in ("", 0, 1)}
    call = in_text(ToolCall("", action.name, json.dumps(given, ensure_ascii=False)))
    return f"{thought}\n{call}" if thought else call


def _action(name: str, arguments: dict[str, Any]) -> Action:
    _, fields, required = _FIELDS[name]
    if unknown := [key for key in arguments if key not in fields]:
        raise PatchError(f"{name} has no argument {unknown[0]!r}{nearest(unknown[0], fields)}")
    if lacking := [key for key in required if key not in arguments]:
        raise PatchError(f"{name} needs the argument {lacking[0]!r}")
    for key, value in arguments.items():
        kind = int if fields[key] is _LINE else str
        if not isinstance(value, kind) or isinstance(value, bool):
            raise PatchError(f"the argument {key!r} of {name} must be {'a whole number' if kind is int else 'text'}")
    try:
        action = Action.model_validate({"name": name, **arguments})
    except ValidationError as error:
        raise PatchError(f"{name}: {error.errors()[0]['msg']}") from error
    actions.render(action)  # what the grammar cannot say is no action here either
    return action


def _object(text: str, what: str) -> dict[str, Any]:
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError) as error:
        raise PatchError(f"{what} must be a JSON object: {error}") from error
    if not isinstance(found, dict):
        raise PatchError(f"{what} must be a JSON object, not {type(found).__name__}")
    return found


def called(raw: str) -> bool:
    """Whether a written turn holds calls that a result can answer."""
    return bool(_divided(raw, "call")[1])


def in_text(call: ToolCall) -> str:
    """A call in the text; arguments that are no JSON stay as they were written, as a text."""
    try:
        arguments: Any = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = call.arguments
    fields = {"name": call.name, "arguments": arguments, **({"id": call.id} if call.id else {})}
    return f"{_OPEN}\n{json.dumps(fields, ensure_ascii=False)}\n</tool_call>"


def _divided(raw: str, fallback: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Text and calls of a written turn. Every call has an id of its own, so that results find theirs."""
    parts = re.split(r"<tool_call>\s*(.*?)\s*</tool_call>", raw, flags=re.DOTALL)
    calls: list[ToolCall] = []
    for number, text in enumerate(parts[1::2], 1):
        try:
            call = _object(text, "")
        except PatchError:
            return raw, ()
        arguments = call.get("arguments", {})
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        suffix = f"_{number}" if number > 1 else ""
        calls.append(ToolCall(str(call.get("id") or f"{fallback}{suffix}"), str(call.get("name", "")), written))
    return "".join(parts[0::2]).strip(), tuple(calls)
