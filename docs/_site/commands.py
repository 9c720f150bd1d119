"""The command line, from the app itself."""

import re
from typing import Any

from typer.main import get_command

from streamsieve.cli.app import app

#: On a narrow screen the columns of a row stand below each other; names of options are not broken.
STACKED = ":::{container} stacked options"


def pages() -> dict[str, str]:
    """Return one page with all commands and their options."""
    root = get_command(app)
    lines = ["# Command line", "", "`streamsieve COMMAND --help` prints the same.", ""]
    for name, command in _leaves("streamsieve", root):
        lines += [
            f"## {name}",
            "",
            _text(command.help),
            "",
            STACKED,
            "| option | default | meaning |",
            "|---|---|---|",
        ]
        lines += [_row(option) for option in command.params if not getattr(option, "hidden", False)]
        lines += [":::", ""]
    return {"reference/command_line.md": "\n".join(lines)}


def _leaves(name: str, command: Any) -> list[tuple[str, Any]]:
    """Return the commands that do something, by their full names."""
    children = getattr(command, "commands", None)
    if not children:
        return [(name, command)]
    return [leaf for child, each in children.items() for leaf in _leaves(f"{name} {child}", each)]


def _row(option: Any) -> str:
    names = (
        ", ".join(f"`{each}`" for each in option.opts)
        if option.param_type_name == "option"
        else f"`{option.name.upper()}`"
    )
    default = option.default
    shown = "" if default in (None, False, (), []) or callable(default) else f"`{default}`"
    return f"| {names} | {shown} | {_text(getattr(option, 'help', '')).replace('|', chr(92) + '|')} |"


def _text(help_text: str | None) -> str:
    text = " ".join((help_text or "").replace("\b", "").split())
    return re.sub(r"(?<![`\w-])--[a-z][\w-]*", r"`\g<0>`", text)  # options are code
