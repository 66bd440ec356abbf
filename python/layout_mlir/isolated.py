"""Runs a function in a process of its own, so that a crash or an endless loop of a library stays there."""

import ctypes
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import IO, Any, Generic, Literal, NoReturn, TypeVar

_Result = TypeVar("_Result")
_PR_SET_PDEATHSIG = 1  # of prctl(2)
_libc = ctypes.CDLL(None)


class Crashed(RuntimeError):
    """The process ended without an answer; the message says how, and its last words."""


def _is_picklable(error: BaseException) -> bool:
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), type(error))
    except Exception:  # whatever a class of a library does
        return False


def end_with_parent(parent: int) -> None:
    """Has this process killed when its parent ends, or ends it now if the parent is gone."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _serve(function: Callable[..., Any], args: tuple[Any, ...], answer: IO[bytes],
           words: IO[bytes]) -> NoReturn:
    """Calls the function in the child, writes the pickled answer, and never returns."""
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


class Isolated(Generic[_Result]):
    """A call of a function in a process of its own, from when it is made.

    The arguments need not be picklable. The process ends with its parent, and after `seconds`.
    """

    def __init__(self, function: Callable[..., _Result], *args: Any, seconds: float = 600) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._answer, self._words = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self._seconds, self._end = seconds, time.monotonic() + seconds
        parent = os.getpid()
        self._child = os.fork()
        if self._child == 0:
            end_with_parent(parent)
            _serve(function, args, self._answer, self._words)

    def wait(self) -> _Result:
        """Returns what the function returns or raises that; raises Crashed if the process gives no answer."""
        with self._answer, self._words:
            status = self._wait_for_end()
            if status == 0:
                self._answer.seek(0)
                answered: tuple[Literal[True], _Result] | tuple[Literal[False], Exception] = pickle.load(self._answer)
                if answered[0]:
                    return answered[1]
                raise answered[1]
            self._words.seek(0)
            last = self._words.read().decode(errors="replace").strip()
        said = ": " + "\n".join(last.splitlines()[:5]) if last else ""
        if status is None:
            raise Crashed(f"no answer within {self._seconds} s{said}")
        if os.WIFSIGNALED(status):
            raise Crashed(f"ended by {signal.Signals(os.WTERMSIG(status)).name}{said}")
        raise Crashed(f"ended with status {os.WEXITSTATUS(status)}{said}")

    def _wait_for_end(self) -> int | None:
        """Returns the exit status, or None if the time is up; the child is gone then, too."""
        child, self._child = self._child, 0
        pause = 0.001
        while time.monotonic() < self._end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        _kill(child)
        return None

    def __del__(self) -> None:
        if getattr(self, "_child", 0):
            _kill(self._child)
            self._answer.close()
            self._words.close()


def _kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def isolated(function: Callable[..., _Result], *args: Any, seconds: float = 600) -> _Result:
    """Returns or raises what function(*args) does; the arguments need not be picklable."""
    return Isolated(function, *args, seconds=seconds).wait()
