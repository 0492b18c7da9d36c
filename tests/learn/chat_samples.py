"""Chat templates for tests, and codecs by them."""

from __future__ import annotations

import copy
import random
from pathlib import Path

from learn_samples import TASKS, episodes, tokenizer
from swefuse.collect.dialects import render_call
from swefuse.learn.chat import ChatCodec
from swefuse.learn.tokens import Codec
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Step, Task, TokenTrace, Trajectory

TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}[end]\n{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)
# as the templates of Hermes and Qwen go: tools in the system's turn, calls in tags, results in a turn of the user's
CALLING = (
    "{% if tools %}[system]Tools:{% for t in tools %}{{ t | tojson }}{% endfor %}[end]\n{% endif %}"
    "{% for m in messages %}{% if m.role == 'tool' %}[user]<seen>{{ m.content }}</seen>[end]\n"
    "{% else %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}"
    "{{ '\n' if m.content or not loop.first else '' }}<tool_call>\n"
    "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}\n</tool_call>{% endfor %}[end]\n"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)


FAMILIES = ("llama", "qwen", "chatml", "smollm2", "mistral")
REFERENCE = episodes(ScriptedPolicy("reference"))
WORDS = ("", "x", "a\r\n\u2028b\x85", "</s><|im_end|>[end]", "  padded \n", "<tool_call>", "[INST] x", "\U0001f600 é", "</think>")


def chat(template: str | None = TEMPLATE, written: str = "compact") -> ChatCodec:
    own = copy.deepcopy(tokenizer())
    own.chat_template = template
    return ChatCodec(own, written)


def real(name: str, written: str = "compact") -> ChatCodec:
    """A codec by a template of the form that a family of models has; see ``templates``."""
    own = copy.deepcopy(tokenizer())
    controls = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"]
    own.add_special_tokens({"additional_special_tokens": controls})
    own.bos_token, own.eos_token = "<s>", "</s>" if name == "mistral" else "<|im_end|>"
    own.chat_template = (Path(__file__).parent / "templates" / f"{name}.jinja").read_text()
    return ChatCodec(own, written)


def varied(number: int, codec: Codec, tools: bool) -> tuple[Task, Trajectory]:
    """Kept and dropped steps, traces of a model, answers that were no action, and words that look like control."""
    rng = random.Random(number)
    at = rng.randrange(len(TASKS))
    steps: list[Step] = []
    for step in REFERENCE[at].steps:
        assert step.action is not None
        if rng.random() < 0.3:
            lost = rng.choice(WORDS) + "hm"
            steps.append(Step(thought="", action=None, raw=lost, observation=rng.choice(WORDS), before="a", after="a", keep=False))
        raw = render_call(step.action, step.thought) if tools else step.raw
        made = step.model_copy(update={"raw": raw, "keep": rng.random() < 0.7, "observation": step.observation + rng.choice(WORDS)})
        if rng.random() < 0.4:
            ids = tuple(rng.randrange(4, 300) for _ in range(rng.randrange(1, 9)))
            zeros = (0.0,) * len(ids)
            trace = TokenTrace(token_ids=ids, logprobs=zeros, raw_logprobs=zeros, entropies=zeros)
            made = made.model_copy(update={"trace": trace})
        steps.append(made)
    steps[-1] = steps[-1].model_copy(update={"keep": True})
    return TASKS[at], REFERENCE[at].model_copy(update={"id": f"varied-{number}", "steps": tuple(steps)})
