"""Runs the project's command-line tools and reports their diagnostics."""

import os
import pathlib
import shutil
import subprocess


class ToolError(RuntimeError):
    """A tool failed; the message holds what it said."""


def find_tool(name):
    """The path of a built tool: from LAYOUT_BUILD_DIR, the PATH, or build/bin of the tree."""
    tree = pathlib.Path(__file__).resolve().parents[2]
    folders = [os.path.join(os.environ.get("LAYOUT_BUILD_DIR", ""), "bin"), str(tree / "build/bin")]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    path = shutil.which(name)
    if path is None:
        raise ToolError(f"{name} is not built: run ./dev build")
    return path


def _first_lines(text, count=40):
    """The diagnostics come first, the dumps that they refer to after them."""
    lines = [line[:500] for line in text.splitlines()]
    more = [f"({len(lines) - count} more lines)"] if len(lines) > count else []
    return "\n".join(lines[:count] + more)


def run_tool_for_all(name, *args):
    """Runs a tool and returns what it printed, and what it said on standard error."""
    command = [find_tool(name), *map(str, args)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise ToolError(f"{' '.join(command)}\nexit status {done.returncode}\n{_first_lines(done.stderr)}")
    return done.stdout, done.stderr


def run_tool(name, *args):
    """Runs a tool and returns what it printed."""
    return run_tool_for_all(name, *args)[0]
