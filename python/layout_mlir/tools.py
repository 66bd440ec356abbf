"""Runs the command-line tools, reports their diagnostics, and writes files atomically."""

import contextlib
import functools
import os
import pathlib
import shutil
from collections.abc import Iterator
from typing import IO, Any

from layout_mlir.isolated import end_with_parent


class ToolError(RuntimeError):
    """Raised if a tool fails; the message contains its output."""


def find_tool(name: str) -> str:
    """Returns the path of a tool in the wheel, LAYOUT_BUILD_DIR, build/bin of the source tree or the PATH. Raises
    ToolError if there is none."""
    package = pathlib.Path(__file__).resolve().parent
    folders = [str(package / "bin"), os.path.join(os.environ.get("LAYOUT_BUILD_DIR", ""), "bin"),
               str(package.parents[1] / "build/bin")]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    found = shutil.which(name)
    if found is None:
        raise ToolError(f"{name} is not built: run ./dev build")
    return found


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Opens a file that is written atomically: it replaces `path` when it is complete, and after an error, a full disk
    or a kill `path` is unchanged. A device or a pipe is written directly."""
    import secrets

    path = pathlib.Path(path).resolve()
    exists = path.exists()
    if exists and (not path.is_file() or not os.access(path, os.W_OK)):
        with open(path, mode) as file:
            yield file
        return
    temporary = path.parent / f".layout-{os.getpid()}-{secrets.token_hex(4)}.part"
    with open(temporary, mode.replace("w", "x")) as file:
        try:
            yield file
            file.close()
            if exists:
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink()
            raise


def _first_lines(text: str, count: int = 40) -> str:
    """Returns the first lines of the output of a tool, which has diagnostics before the dumps that they refer to."""
    lines = [line[:500] for line in text.splitlines()]
    more = [f"({len(lines) - count} more lines)"] if len(lines) > count else []
    return "\n".join(lines[:count] + more)


def run_tool_for_all(name: str, *args: object, seconds: float | None = None) -> tuple[str, str]:
    """Runs a tool; returns its standard output and error. Raises ToolError if it fails or exceeds `seconds`."""
    import subprocess

    command = [find_tool(name), *map(str, args)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=seconds, preexec_fn=functools.partial(end_with_parent, os.getpid()))
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{' '.join(command)}\nerror: failed: no end within {seconds} s") from error
    if done.returncode != 0:
        raise ToolError(f"{' '.join(command)}\nexit status {done.returncode}\n{_first_lines(done.stderr)}")
    return done.stdout, done.stderr


def run_tool(name: str, *args: object, seconds: float | None = None) -> str:
    """Runs a tool and returns its standard output. Raises ToolError if it fails or exceeds `seconds`."""
    return run_tool_for_all(name, *args, seconds=seconds)[0]
