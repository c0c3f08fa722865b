"""The stand-in alone, for real clients: `python -m caveman_tui.demo.provider --port 9100 --script claude-loop`."""

import asyncio
import json
from pathlib import Path

import click

from caveman_tui.demo.provider.clock import Clock
from caveman_tui.demo.provider.scripts import NAMED, Script, turns_from_json
from caveman_tui.demo.provider.server import Provider


@click.command()
@click.option("--port", type=int, default=0, show_default="a free one", help="Port on 127.0.0.1.")
@click.option("--script", "name", type=click.Choice(sorted(NAMED)), default="hello", show_default=True, help="What it answers.")
@click.option("--script-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON list of replies instead.")
@click.option("--pace", type=float, default=0.0, help="Seconds between the writes of a stream.")
def main(port: int, name: str, script_file: Path | None, pace: float) -> None:
    """Serve Messages, Chat Completions and Responses on loopback until interrupted.

    Point a client at it with ANTHROPIC_BASE_URL or OPENAI_BASE_URL (there with /v1) and any key.
    GET /demo/received lists what came in; POST /demo/clock {"advance": 600} lets ten minutes pass.
    """
    script: Script = NAMED[name]
    if script_file is not None:
        try:
            script = turns_from_json(json.loads(script_file.read_bytes()))
        except ValueError as error:
            raise click.ClickException(f"{script_file} holds no script: {error}") from error
    with_clock = Provider(script, clock=Clock(ticking=True), pace_seconds=pace)
    try:
        asyncio.run(_serve(with_clock, port))
    except KeyboardInterrupt:
        pass
    except OSError as error:
        raise click.ClickException(f"port {port} can't be used: {error}; choose another with --port") from error


async def _serve(provider: Provider, port: int) -> None:
    async with provider.running(port):
        click.echo(provider.url)
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
