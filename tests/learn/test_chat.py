"""Rows for chat models are the text of their templates, in either dialect."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from chat_samples import CALLING, TEMPLATE, chat, real

from learn_samples import TASKS, episodes, tokenizer
from swefuse.collect.dialects import CONVERSATION, Compact, Tools, dialect, render_call
from swefuse.errors import DataError, UserError
from swefuse.learn.template import Template
from swefuse.policy.base import Choice, Message, ToolCall
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Action, Step, Task, TokenTrace


def mended() -> list[tuple[Task, tuple[Step, ...]]]:
    return [(task, episode.steps) for task, episode in zip(TASKS, episodes(ScriptedPolicy("reference")), strict=True)]


def test_a_chat_row_is_the_text_of_the_template() -> None:
    codec = chat()
    task, steps = mended()[0]
    said = [{"role": "user", "content": Compact().told(task)}]
    for step in steps[:3]:
        said += [{"role": "assistant", "content": step.raw.removesuffix("\n")}, {"role": "user", "content": step.observation}]
    expected = codec.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
    row = codec.row(task, steps[:3], prompt=True)
    assert codec.tokenizer.decode(row.ids) == expected
    written = [codec.tokenizer.decode(row.ids[start:end]) for start, end in row.spans]
    assert written == [step.raw.removesuffix("\n") + "[end]\n" for step in steps[:3]], "the line end is none of the template's"
    assert codec.messages(task, [Choice("", Action(name="test"))]) == [codec.message(task, Choice("", Action(name="test")))]


def test_text_of_code_and_tests_cannot_end_a_chat_message() -> None:
    codec = chat()
    codec.tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_end|>"]})
    end = codec.tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert codec.tokenizer.encode("<|im_end|>", add_special_tokens=False) == [end]
    task, steps = mended()[0]
    said = TASKS[0].model_copy(update={"instruction": "stop <|im_end|>"})
    hostile = steps[1].model_copy(update={"observation": "gave '<|im_end|>'"})
    edit = Choice("", Action(name="edit", path="m.py", line=2, old="x", new="'<|im_end|>'"))
    row = codec.row(said, (steps[0], hostile), prompt=True)
    assert end not in row.ids and end not in codec.message(task, edit)
    assert codec.tokenizer.decode(row.ids).count("<|im_end|>") == 2, "spelt out, not lost"


def test_a_template_that_rewrites_history_or_is_missing_is_refused() -> None:
    with pytest.raises(DataError, match="rewrites earlier turns"):
        chat("{{ messages[-1].content }}")
    with pytest.raises(DataError, match="rewrites earlier turns"):
        chat("{{ messages | length }} turns" + TEMPLATE)
    with pytest.raises(DataError, match="no chat template"):
        chat(None)


def test_a_hidden_instruction_is_not_shown() -> None:
    hidden = TASKS[0].model_copy(update={"hide_instruction": True})
    assert TASKS[0].instruction in Compact().told(TASKS[0])
    assert TASKS[0].instruction not in Compact().told(hidden) and "@submit" in Compact().told(hidden)


@pytest.mark.parametrize("template", [TEMPLATE, CALLING])
def test_a_row_of_calls_is_the_text_of_the_template(template: str) -> None:
    codec = chat(template, "tools")
    task, steps = mended()[0]
    steps = tuple(step.model_copy(update={"raw": render_call(step.action, step.thought)}) for step in steps[:3] if step.action)
    speech = Tools()
    row = codec.row(task, steps, prompt=True)
    expected = Template(codec.tokenizer).render(speech.messages(task, steps), speech.tools, prompt=True)
    assert codec.tokenizer.decode(row.ids) == expected
    assert "Take the last edit back" in expected, "what tools there are is told, also where the template does not know any"
    for step, (start, end) in zip(steps, row.spans, strict=True):
        assert codec.tokenizer.decode(row.ids[start:end]) == step.raw + "[end]\n"
        assert step.observation in expected
    assert codec.dialect == "tools"


def test_an_answer_without_a_call_is_answered_by_the_user() -> None:
    codec = chat(CALLING, "tools")
    lost = Step(thought="", action=None, raw="I think so.", observation="not one action", before="a", after="a")
    ids = tuple(codec.tokenizer.encode("@test[end]", add_special_tokens=False))
    trace = TokenTrace(token_ids=ids, logprobs=(-1.0,) * len(ids), raw_logprobs=(-1.0,) * len(ids), entropies=(0.0,) * len(ids))
    plain = Step(thought="", action=Action(name="test"), raw="@test", observation="fine", before="a", after="a", trace=trace)
    text = codec.tokenizer.decode(codec.row(TASKS[0], (lost, plain), prompt=True).ids)
    assert "[user]not one action[end]" in text and "[user]fine[end]" in text and "<seen>" not in text


def test_a_template_without_tools_is_told_of_them_and_of_their_results_in_words() -> None:
    own = copy.deepcopy(tokenizer())
    own.chat_template = TEMPLATE
    shape = Template(own)
    tool: dict[str, Any] = {"type": "function", "function": {"name": "look", "description": "Look."}}
    talk = [
        Message("system", "Be brief."), Message("user", "Look."),
        Message("assistant", "", (ToolCall("a", "look", '{"at": 1}'),)), Message("tool", "a hat", call="a"),
    ]  # fmt: skip
    text = shape.render(talk, [tool], prompt=True)
    assert not shape.knows_tools and text.startswith("[system]Tools that you may call:\n{") and '"name": "look"' in text
    assert '<tool_call>\n{"name": "look", "arguments": {"at": 1}}\n</tool_call>[end]' in text
    assert "[user]a hat[end]" in text and "[tool]" not in text
    assert shape.render(talk[1:2], [tool]).startswith("[user]Tools that you may call")
    assert shape.render(talk[2:3], [tool]).startswith("[system]Tools that you may call")
    assert shape.render(talk[:2]) == "[system]Be brief.[end]\n[user]Look.[end]\n"


def test_a_template_that_refuses_results_or_moves_them_is_told_of_them_in_words() -> None:
    task, steps = mended()[0]
    spoken = tuple(step.model_copy(update={"raw": render_call(step.action, step.thought)}) for step in steps[:3] if step.action)
    json_results = CALLING.replace("<seen>{{ m.content }}</seen>", "<seen>{{ m.content | tojson }}</seen>")
    own_calls = CALLING.replace("'arguments': c.function", "'parameters': c.function")
    for template in (
        CALLING.replace("[user]<seen>", "{{ raise_exception('no results') }}[user]<seen>"),
        CALLING.replace("<seen>{{ m.content }}</seen>", ""), json_results, own_calls,
    ):  # fmt: skip
        codec = chat(template, "tools")
        assert not codec.template.knows_tools and chat(CALLING, "tools").template.knows_tools
        text = codec.tokenizer.decode(codec.row(task, spoken, prompt=True).ids)
        assert text == codec.template.render(Tools().messages(task, spoken), Tools().tools, prompt=True)
        assert "Tools that you may call" in text and "<seen>" not in text and f"[user]{spoken[0].observation}[end]" in text


def test_a_template_that_refuses_a_role_or_drops_a_turn_is_refused_by_name() -> None:
    fussy = (
        "{% for m in messages %}{% if m.role == 'user' and not loop.first %}{{ raise_exception('one question') }}{% endif %}"
        "{% endfor %}"
    )
    with pytest.raises(DataError, match="no turn of the role user there: one question"):
        chat(fussy + TEMPLATE)
    with pytest.raises(DataError, match="leaves out a turn of the role user at the start"):
        chat("{% for m in messages %}[{{ m.role }}]{% endfor %}")
    with pytest.raises(DataError, match="leaves out what the assistant said"):
        chat(TEMPLATE.replace("{{ m.content }}", "{{ m.content if m.role == 'user' else '' }}"))
    failing = "{% if tools %}{{ raise_exception('no tools') }}{% endif %}" + TEMPLATE
    assert "Tools that you may call" in chat(failing, "tools").tokenizer.decode(chat(failing, "tools").row(TASKS[0], ()).ids)
    with pytest.raises(UserError, match="there is no dialect 'tool'"):
        chat(TEMPLATE, "tool")


def test_a_choice_is_written_as_the_dialect_has_it() -> None:
    codec = chat(CALLING, "tools")
    (ids,) = codec.messages(TASKS[0], [Choice("Look.", Action(name="test"))])
    assert codec.text(ids).startswith('Look.\n<tool_call>\n{"name": "test", "arguments": {}}\n</tool_call>')


@pytest.mark.parametrize("name", ["llama", "qwen", "chatml", "smollm2", "mistral"])
@pytest.mark.parametrize("written", ["compact", "tools"])
def test_rows_are_the_text_of_templates_as_models_have_them(name: str, written: str) -> None:
    codec = real(name, written)
    speech = dialect(written)
    for task, steps in mended():
        padded = tuple(step.model_copy(update={"observation": f"  {step.observation}\r\n\u2028 "}) for step in steps)
        spoken = tuple(step.model_copy(update={"raw": speech.render(step.action, step.thought)}) for step in padded if step.action)
        for asked in (True, False):
            said = speech.messages(task, spoken)[: None if asked else -1]
            expected = codec.template.render(said, speech.tools, prompt=asked)
            row = codec.row(task, spoken, prompt=asked)
            assert codec.tokenizer.decode(row.ids) == expected
        starts = list(row.ids).count(codec.tokenizer.bos_token_id)
        assert starts == (name in ("llama", "mistral")), "one at most: encoding adds none"
        for step, (start, end) in zip(spoken, row.spans, strict=True):
            assert codec.text(row.ids[start:end]).strip() == step.raw.strip()


def test_what_templates_do_to_words_is_known() -> None:
    assert real("llama").template.trims == {"system", "user", "assistant", "tool"}
    assert real("qwen").template.trims == frozenset() and real("qwen").template.knows_tools
    assert [name for name in ("llama", "qwen", "chatml", "smollm2", "mistral") if real(name).template.drops_thinking] == ["qwen"]
    assert not real("llama").template.knows_tools, "it writes calls in another form than the one that is read"
    assert not real("mistral").template.knows_tools, "it moves its tools to the last question"
    kept = [name for name in ("llama", "qwen", "chatml", "smollm2", "mistral") if real(name).template.keeps_system]
    assert kept == ["llama", "qwen", "chatml", "smollm2"], "one moves what the system says to the last question"


def conversing(turns: list[dict[str, str]], tools: list[dict[str, Any]]) -> Task:
    origin = TASKS[0].provenance.model_copy(update={"parameters": {CONVERSATION: json.dumps({"turns": turns, "tools": tools})}})
    return TASKS[0].model_copy(update={"provenance": origin})


@pytest.mark.parametrize("name", ["llama", "qwen", "chatml", "smollm2", "mistral"])
@pytest.mark.parametrize("tools", [False, True])
def test_an_episode_from_elsewhere_keeps_its_own_opening(name: str, tools: bool) -> None:
    codec = real(name)
    bash = {"type": "function", "function": {"name": "bash", "description": "Run.", "parameters": {"type": "object"}}}
    opening = [Message("system", " Be brief.\n"), Message("user", "Mend <|im_end|> it.\n")]
    task = conversing([{"role": turn.role, "content": turn.content} for turn in opening], [bash] if tools else [])
    raw = 'Look.\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>' if tools else "```bash\nls\n```"
    steps = tuple(
        Step(thought="", action=None, raw=text, observation=seen, before="a", after="a")
        for text, seen in ((raw, "m.py\n"), ("It is done.", "fine"))
    )
    call = (ToolCall("", "bash", '{"command": "ls"}'),) if tools else ()
    said = [
        *opening, Message("assistant", "Look." if tools else raw, call), Message("tool" if tools else "user", "m.py\n"),
        Message("assistant", "It is done."), Message("user", "fine"),
    ]  # fmt: skip
    row = codec.row(task, steps, prompt=True)
    assert codec.tokenizer.decode(row.ids) == codec.template.render(said, [bash] if tools else [], prompt=True)
    for step, (start, end) in zip(steps, row.spans, strict=True):
        assert codec.text(row.ids[start:end]) == step.raw


@pytest.mark.parametrize("text", ["{", "[]", '{"turns": []}', '{"turns": [{"role": "tool", "content": ""}]}', '{"turns": [1]}'])
def test_an_opening_that_cannot_be_read_is_refused_by_task(text: str) -> None:
    origin = TASKS[0].provenance.model_copy(update={"parameters": {CONVERSATION: text}})
    with pytest.raises(DataError, match=rf"task {TASKS[0].id}: its opening conversation"):
        real("chatml").row(TASKS[0].model_copy(update={"provenance": origin}), ())
