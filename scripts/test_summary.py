"""Summarizes lit's xUnit report in the line `N passed, N failed[, N skipped]`.

usage: test_summary.py RESULTS.xml LIT_EXIT_STATUS

The xUnit report is used because lit's JSON omits GoogleTest cases that skip themselves. An expected failure (XFAIL)
counts as passed. An unexpected pass (XPASS), a timeout and an unresolved test count as failed. Tests that need a
feature that this machine lacks count as skipped and are listed with the reason. Tests that the selection excludes do
not count. Each GoogleTest case counts as one test.

The exit status is 0 only if at least one test ran, none failed, and lit itself reported no error.
"""

import sys
import xml.etree.ElementTree

# lit's messages for tests that --filter excluded, and for tests that did not finish. In a complete run, only cases that
# call GTEST_SKIP remain in the latter state.
_NOT_SELECTED = "Test not selected"
_UNFINISHED = "User interrupt"


def summarize(report):
    """Returns the names of the tests that passed, failed, and were skipped (with the reason)."""
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
            # <failure>, or an element that this program does not handle
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
