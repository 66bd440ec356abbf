"""Turns lit's xUnit report into the line `N passed, N failed[, N skipped]`.

usage: test_summary.py RESULTS.xml LIT_EXIT_STATUS

The xUnit report rather than lit's JSON, which leaves out the GoogleTest cases that
skip themselves. A test that fails as it is marked to (XFAIL) has passed; one that
passes though it is marked to fail (XPASS), hangs, or cannot be resolved has
failed. Skipped are the tests that need what this machine lacks; each is named
with its reason. Tests that the selection leaves out do not count. Each GoogleTest
case is a test of its own.

The exit status is 0 only when at least one test ran, none failed, and lit itself
had nothing to complain about.
"""

import sys
import xml.etree.ElementTree

# How lit's report marks a test that --filter and the like left out, and one that
# did not finish: only cases that call GTEST_SKIP are left in this state by a run
# that lit reports to be complete.
_NOT_SELECTED = "Test not selected"
_UNFINISHED = "User interrupt"


def summarize(report):
    """The names of the tests that passed, failed, and (with a reason) skipped."""
    passed, failed, skipped = [], [], []
    for case in report.iter("testcase"):
        name = f"{case.get('classname')}/{case.get('name')}"
        mark = case.find("skipped")
        reason = mark.get("message", "") if mark is not None else ""
        if reason.startswith(_NOT_SELECTED):
            continue
        if reason == _UNFINISHED:
            reason = "skipped itself"
        if mark is not None:
            skipped.append(f"{name} ({reason})")
        elif len(case):
            # <failure>, or a mark this program does not know: no pass.
            failed.append(name)
        else:
            passed.append(name)
    return passed, failed, skipped


def main(argv):
    results, status = argv[1], int(argv[2])
    try:
        report = xml.etree.ElementTree.parse(results)
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"lit left no readable report ({error}); its exit status was {status}")
        print("0 passed, 1 failed")
        return 1
    passed, failed, skipped = summarize(report)
    for name in skipped:
        print(f"skipped: {name}")
    for name in failed:
        print(f"failed: {name}")
    if not passed and not failed:
        print("no test ran")
    elif status and not failed:
        print(f"lit reported an error of its own (exit status {status}), see above")
    line = f"{len(passed)} passed, {len(failed)} failed"
    if skipped:
        line += f", {len(skipped)} skipped"
    print(line)
    return 1 if failed or not passed or status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
