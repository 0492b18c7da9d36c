"""``swefuse policy``: let a model answer others."""

from __future__ import annotations

from typing import Annotated

import typer

from swefuse.cli.common import ModelOption, example, extras, group, say

app = group("policy", "Let a model answer others.", "swefuse policy serve --model runs/sft/model")


@app.command("serve", epilog=example("swefuse policy serve --model runs/sft/model --port 8000"))
def serve(
    model: ModelOption,
    name: Annotated[str, typer.Option("--name", help="Name that clients call the model by; default: the folder's.")] = "",
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; other than this machine's own needs a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: a free one.")] = 8000,
    key_env: Annotated[str, typer.Option("--key-env", metavar="NAME", help="Variable with the key that clients must send.")] = "",
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Limit of a reply where a request names none.")] = 1024,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Replies that are written together.")] = 16,
    writer: Annotated[
        str, typer.Option("--writer", metavar="MODULE:NAME", help="Function that makes a writer of the model's folder.")
    ] = "swefuse.learn.writer:load",
) -> None:
    """Serve a model as an OpenAI-compatible chat endpoint until Ctrl-C."""
    from swefuse.policy.serve import ChatServer, Limits, load_writer, server_key

    key = server_key(key_env)  # before the model is read, which may take minutes
    with extras():
        made = load_writer(writer, model)
    server = ChatServer(made, name or model.resolve().name, (host, port), key, limits=Limits(tokens=max_tokens, batch=batch))
    try:
        server.start()
        say(f"serving {server.model} at {server.url}; Ctrl-C ends it")
        server.wait()
    except KeyboardInterrupt:
        say("stopping")
    finally:
        server.close()
