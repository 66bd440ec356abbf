"""Runs tests for mutation testing: lit tests and GoogleTest cases.

Each test runs in its own process group with a time limit. lit is used as a library, so that its configuration is read
once and not once per mutant.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def find_lit():
    """Returns the directory of lit's Python package in the LLVM installation."""
    program = shutil.which("llvm-config-22") or shutil.which("llvm-config")
    if program is None:
        sys.exit("neither llvm-config-22 nor llvm-config is in PATH")
    prefix = subprocess.run([program, "--prefix"], check=True, capture_output=True, text=True).stdout.strip()
    return os.path.join(prefix, "utils", "lit")


def run_limited(function, limit):
    """Returns the exit status of `function` in a forked process, or None after `limit` seconds."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.setsid()
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nowhere, descriptor)
            status = function()
        finally:
            os._exit(status)
    end = time.monotonic() + limit
    pause = 0.002
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    # Kill processes that a failed test left in its group.
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    return os.waitstatus_to_exitcode(status)


class Test:
    """A test with a `name`. Subclasses define `execute`, and `stamp`, which changes when the test or its programs
    do."""

    def run(self, environment, limit):
        status = run_limited(lambda: self.execute(environment), limit)
        return {0: PASSED, 77: SKIPPED}.get(status, FAILED)

    def measure(self):
        trace = f"{self.scratch}/trace-{os.getpid()}"
        os.makedirs(self.scratch, exist_ok=True)
        open(trace, "w").close()
        start = time.monotonic()
        outcome = self.run({"LAYOUT_MUTANT_TRACE": trace}, 600)
        seconds = time.monotonic() - start
        with open(trace, encoding="utf-8") as file:
            meets = sorted({int(line) for line in file})
        os.remove(trace)
        return {"outcome": outcome, "seconds": seconds, "meets": meets, "stamp": self.stamp()}


class Command(Test):
    """A command, e.g. one GoogleTest case, that fails with a nonzero exit status."""

    def __init__(self, name, command, scratch, stamp=""):
        self.name, self.command, self.scratch = name, command, scratch
        self._stamp = stamp

    def execute(self, environment):
        os.environ.update(environment)
        os.execv(self.command[0], self.command)

    def stamp(self):
        return self._stamp


class Lit(Test):
    def __init__(self, test, config, scratch, programs):
        self.test, self.config, self.scratch, self.programs = test, config, scratch, programs
        self.name = "/".join(("test",) + tuple(test.path_in_suite))

    def execute(self, environment):
        import lit.worker
        self.test.config.environment.update(environment)
        # Workers may run one test for two mutants at the same time.
        self.test.suite.exec_root = f"{self.scratch}/worker-{os.getppid()}"
        result = lit.worker._execute(self.test, self.config)
        if result.code.name in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            return 77
        return 1 if result.code.isFailure else 0

    def stamp(self):
        directory = os.path.join(os.path.dirname(self.test.getSourcePath()), "Inputs")
        inputs = [os.path.join(directory, name) for name in os.listdir(directory)] \
            if os.path.isdir(directory) else []
        times = [os.stat(path).st_mtime_ns for path in (self.test.getSourcePath(), *inputs)]
        return f"{self.programs} {max(times)}"


def _cases(program, scratch):
    listing = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE,
                             check=True, text=True).stdout
    stamp = str(os.stat(program).st_mtime_ns)
    suite = ""
    for line in listing.splitlines():
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name
        elif not name.startswith("DISABLED_"):
            yield Command(f"{os.path.basename(program)} {suite}{name}",
                          [program, f"--gtest_filter={suite}{name}"], scratch, stamp)


def _lit_tests(build, directories, scratch):
    sys.path.insert(1, find_lit())
    import lit.discovery
    import lit.LitConfig
    config = lit.LitConfig.LitConfig("lit", [], "error", False, False, [], False, False, False,
                                     "smart", {})
    programs = max(os.stat(os.path.join(build, "bin", name)).st_mtime_ns
                   for name in os.listdir(os.path.join(build, "bin")))
    for test in lit.discovery.find_tests_for_inputs(config, directories):
        yield Lit(test, config, scratch, programs)


def find(build, names):
    """Returns the tests of a build directory for `names`: programs test/Unit/..Tests, or directories and files of lit
    tests."""
    scratch = os.path.join(build, "mutants")
    tests, directories = [], []
    for name in names:
        if name.endswith("Tests"):
            tests += _cases(os.path.join(build, name), scratch)
        else:
            directories.append(os.path.join(build, name))
    if directories:
        tests += _lit_tests(build, directories, scratch)
    return tests
