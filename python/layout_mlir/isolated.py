"""Runs a function in a child process, so that a crash or an endless loop of a library does not affect the caller."""

import ctypes
import gc
import os
import pickle
import select
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import IO, Any, Generic, Literal, NoReturn, TypeVar

_Result = TypeVar("_Result")
_PR_SET_PDEATHSIG = 1  # an option of prctl(2)
_libc = ctypes.CDLL(None)


class Crashed(RuntimeError):
    """Raised if the process ended without a result. The message says how it ended, with the first lines of `output`."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


def _is_picklable(error: BaseException) -> bool:
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), type(error))
    except Exception:  # arbitrary errors of a library's class
        return False


def end_with_parent(parent: int) -> None:
    """Makes the kernel kill this process when its parent ends, or exits now if the parent has ended."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _serve(function: Callable[..., Any], args: tuple[Any, ...], answer: IO[bytes],
           words: IO[bytes]) -> NoReturn:
    """Calls the function in the child and writes the pickled result; never returns."""
    status = 1
    # Garbage of the parent stays: an object that waits for its threads when it is destroyed, as a session of ONNX
    # Runtime does, has none in this process and would wait forever.
    gc.freeze()
    try:
        for stream in (1, 2):
            os.dup2(words.fileno(), stream)
        try:
            value = (True, function(*args))
        except Exception as error:  # passed to the parent, unchanged if it is picklable
            value = (False, error)
            if not _is_picklable(error):
                value = (False, RuntimeError(f"{type(error).__name__}: {error}"))
        pickle.dump(value, answer)
        answer.flush()
        status = 0
    finally:
        os._exit(status)


class Isolated(Generic[_Result]):
    """A function call in a child process, which starts on construction.

    The arguments need not be picklable. The process is killed when its parent ends, and after `seconds`.
    """

    def __init__(self, function: Callable[..., _Result], *args: Any, seconds: float = 600) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._answer, self._words = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self._seconds, self._end = seconds, time.monotonic() + seconds
        parent = os.getpid()
        with warnings.catch_warnings():
            # JAX warns of every fork. The child does not use JAX, and so waits for none of its threads.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called.*JAX", RuntimeWarning)
            self._child = os.fork()
        if self._child == 0:
            end_with_parent(parent)
            _serve(function, args, self._answer, self._words)

    def wait(self) -> _Result:
        """Returns the function's result or raises its exception; raises Crashed if the process ended without one."""
        with self._answer, self._words:
            status = self._wait_for_end()
            if status == 0:
                self._answer.seek(0)
                answered: tuple[Literal[True], _Result] | tuple[Literal[False], Exception] = pickle.load(self._answer)
                if answered[0]:
                    return answered[1]
                raise answered[1]
            self._words.seek(0)
            output = self._words.read().decode(errors="replace").strip()
        said = ": " + "\n".join(output.splitlines()[:5]) if output else ""
        if status is None:
            raise Crashed(f"no answer within {self._seconds} s{said}", output)
        if os.WIFSIGNALED(status):
            raise Crashed(f"ended by {signal.Signals(os.WTERMSIG(status)).name}{said}", output)
        raise Crashed(f"ended with status {os.WEXITSTATUS(status)}{said}", output)

    def _wait_for_end(self) -> int | None:
        """Returns the exit status, or None after the time limit, which kills the child."""
        end = os.pidfd_open(self._child)
        try:
            poll = select.poll()
            poll.register(end, select.POLLIN)
            if poll.poll(max(self._end - time.monotonic(), 0) * 1000):
                child, self._child = self._child, 0
                return os.waitpid(child, 0)[1]
        finally:
            os.close(end)
            if self._child:  # the time is over, or the caller was interrupted
                _kill(self._child)
                self._child = 0
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
    """Calls function(*args) in a child process and returns or raises the same. The arguments need not be picklable."""
    return Isolated(function, *args, seconds=seconds).wait()
