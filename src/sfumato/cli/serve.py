"""`sfumato serve`: the gate's pages and its REST."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Json

if TYPE_CHECKING:
    from sfumato.gate.demo import Demo

__all__ = ["EXAMPLE", "serve"]

EXAMPLE = "Example: sfumato serve --config gate.yaml --port 8750 --workers 2"


def serve(
    config: Annotated[Path | None, typer.Option(help="The gate's configuration: gate.yaml.")] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="An invented data warehouse in place of a configuration.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where it listens; 0 for any that is free.")] = 8750,
    host: Annotated[
        str, typer.Option(help="Address of this machine; others than loopback need `server: hosts`.")
    ] = "127.0.0.1",
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many processes answer.")] = 1,
    records: Annotated[int, typer.Option(min=1000, max=1_000_000, help="How many patients the demo invents.")] = 50_000,
    json: Json = False,
) -> None:
    """Serve a gate: its pages, and REST for programs. It runs until it is stopped (Ctrl-C).

    It speaks plain http to this machine. For others put something that speaks https before it, and name the host in the
    configuration. With `--demo` a gate is set up in a temporary folder, which goes when it is stopped.
    """
    import tempfile

    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.errors import DataError

    if (config is None) != demo:
        raise DataError("Say which gate is served: --config gate.yaml, or --demo.")
    if config is not None:
        _run(config, host, port, workers, lambda url: print_json({"url": url}) if json else say([f"Serving {url}"]))
        return
    from sfumato.gate.demo import set_up

    with tempfile.TemporaryDirectory(prefix="sfumato-demo-") as folder:
        with working() as progress:
            progress("inventing patients", 0)
            made = set_up(Path(folder), records)
        told = print_json if json else _told
        status = _run(made.config, host, port, workers, lambda url: told(_plain(made, url)), exit_=False)
    _leave(status)


def _plain(demo: Demo, url: str) -> dict[str, Any]:
    return {"url": url, "dataset": demo.dataset, "users": [user.to_plain() for user in demo.users]}


def _told(told: dict[str, Any]) -> None:
    print(f"Serving {told['url']} with the data set {told['dataset']!r}. Log in as:")
    for user in told["users"]:
        print(f"  {user['id']} ({user['role']}), password {user['password']}")


def _run(config: Path, host: str, port: int, workers: int, begun: Any, exit_: bool = True) -> int:
    import sys

    from sfumato.errors import MissingExtra

    try:
        from sfumato.web.gate.running import run_gate
    except ModuleNotFoundError as error:  # pragma: no cover - tests have the extra
        if (error.name or "").startswith("sfumato"):
            raise
        raise MissingExtra("The gate's server", "server") from None

    def flushed(url: str) -> None:
        begun(url)
        sys.stdout.flush()
        sys.stderr.flush()

    status = run_gate(config, host, port, workers, flushed)
    if exit_:
        _leave(status)
    return status


def _leave(status: int) -> None:
    """At once, whatever is still being decided: what was not answered was not given."""
    from sfumato.web.server import leave

    leave(status)
