"""Chat templates for tests, and codecs by them."""

from __future__ import annotations

import copy

from learn_samples import tokenizer
from swefuse.learn.chat import ChatCodec

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


def chat(template: str | None = TEMPLATE, written: str = "compact") -> ChatCodec:
    own = copy.deepcopy(tokenizer())
    own.chat_template = template
    return ChatCodec(own, written)
