"""Runs a function in a process of its own, so that a crash or an endless loop of a library stays there."""

import ctypes
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO, Any, Literal, NoReturn, TypeVar

_Result = TypeVar("_Result")


class Crashed(RuntimeError):
    """The process ended without an answer; the message says how, and its last words."""


# The option of Linux's prctl that names the signal a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def _end_with(parent: int) -> None:
    """In the child: lets the kernel end this process when the parent ends, however that ends."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the call
            os._exit(1)


def _is_picklable(error: BaseException) -> bool:
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), type(error))
    except Exception:  # whatever a class of a library does
        return False


def _serve(function: Callable[..., Any], args: tuple[Any, ...], answer: IO[bytes],
           words: IO[bytes]) -> NoReturn:
    """In the child: calls, writes the pickled answer, and never returns."""
    status = 1
    try:
        for stream in (1, 2):
            os.dup2(words.fileno(), stream)
        try:
            value = (True, function(*args))
        except Exception as error:  # goes to the parent, as it is where it can
            value = (False, error)
            if not _is_picklable(error):
                value = (False, RuntimeError(f"{type(error).__name__}: {error}"))
        pickle.dump(value, answer)
        answer.flush()
        status = 0
    finally:
        os._exit(status)


def _wait(child: int, seconds: float) -> int | None:
    """The exit status, or None when the time was up; the child is gone then, too."""
    end = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def isolated(function: Callable[..., _Result], *args: Any, seconds: float = 600) -> _Result:
    """What function(*args) returns or raises; the arguments need not be picklable."""
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as words:
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            _end_with(parent)
            _serve(function, args, answer, words)
        status = _wait(child, seconds)
        if status == 0:
            answer.seek(0)
            answered: tuple[Literal[True], _Result] | tuple[Literal[False], Exception] = pickle.load(answer)
            if answered[0]:
                return answered[1]
            raise answered[1]
        words.seek(0)
        last = words.read().decode(errors="replace").strip()
    said = ": " + "\n".join(last.splitlines()[:5]) if last else ""
    if status is None:
        raise Crashed(f"no answer within {seconds} s{said}")
    if os.WIFSIGNALED(status):
        raise Crashed(f"ended by {signal.Signals(os.WTERMSIG(status)).name}{said}")
    raise Crashed(f"ended with status {os.WEXITSTATUS(status)}{said}")
