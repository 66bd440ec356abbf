"""Renders docs/onnx-operators.md, the tests of the ONNX package that do not match, by reason.

    onnx_page.py     checks that the page has the form in which it is written

peers_onnx.py writes the page from the outcomes of the tests. `parse` returns the groups that a page was rendered from,
so that its form can be checked without running the tests.
"""

import collections
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/onnx-operators.md"

_HEAD = """# ONNX operators whose tests do not match

To see whether an operator of a model is supported, and why a test of it is refused or has other results than expected,
search its name on this page. An operator that is not listed has no such test.

`./dev peers onnx` runs the operator tests of the ONNX package twice: by `layout_mlir.onnx_session`, and by the tools
(the importer, `--layout-to-cpu` and `layout-run`). A test matches if both give the results that the package expects and
the session is compiled as a whole. The sections below have the tests that do not match, grouped by the reason. A row
has the number of such tests of one operator; other tests of the operator may match. If no operator of a model is known
to be the reason, the row names all of them with plus signs between. `--json FILE` writes the error message of every
test. `./dev peers onnx --update-docs` regenerates this page.
"""

# The reason of the tests that run, but do not match. Tests of all other reasons are refused.
_DIFFERING = "The results are those of ONNX Runtime, which differ from the expected ones"

# Pairs of a pattern of the message and its reason, in the order of the page.
_REASONS = [
    (r"strings|STRING", "Elements of a tensor are strings"),
    (r"is not a tensor|OPTIONAL|sequence", "An input or a result of the model is a sequence or an optional"),
    (r"the result differs each time|random", "The result is random"),
    (r"compressed images", "The operator decodes compressed images"),
    (r"is not a constant|is not known|is unknown", "An operand that must be a constant is an input of the model"),
    (r"result \d+:", _DIFFERING),
    (r"session: |layout-opt: |layout-run: ", "The model is imported, but an element type or an op has no lowering to a CPU"),
    (r"model is not valid", "The ONNX package refuses the model"),
    (r"", "The importer does not support this form of the operator"),
]


def reason_of(message):
    return next(reason for pattern, reason in _REASONS if re.search(pattern, message))


def _culprits(outcome):
    """Returns the operator that the message names or the test is about, or all operators of the model."""
    named = re.search(r"^node '.*?' \(([\w.]+)\)|\((\w+)\), in its output", outcome.reason)
    if named:
        return [named[1] or named[2]]
    expanded = re.fullmatch(r"test_([a-z0-9]+)_.*expanded.*", outcome.name)
    return [f"{expanded[1]}, its function" if expanded else " + ".join(outcome.operators) or "(none)"]


def collect(outcomes):
    """Returns (number of tests, {reason: {operators: tests}} of those that do not match). Crashes count as refused."""
    groups = {reason: collections.Counter() for _, reason in _REASONS}
    for outcome in outcomes:
        if not outcome.status.startswith("matched"):
            groups[reason_of(outcome.reason)].update(_culprits(outcome))
    return len(outcomes), groups


def _tests(count):
    return f"{count} test" if count == 1 else f"{count} tests"


def render(collected):
    """Returns the text of the page."""
    total, groups = collected
    counts = {reason: sum(operators.values()) for reason, operators in groups.items()}
    differing = counts.get(_DIFFERING, 0)
    refused = sum(counts.values()) - differing
    lines = [_HEAD, f"Of {total} tests, {total - refused - differing} match, {refused} are refused, and {differing} run "
             "with other results than the package expects.", ""]
    for reason, operators in groups.items():
        if not operators:
            continue
        lines += [f"## {reason}", "", f"{_tests(counts[reason])}.", "", "| operators | tests |", "|---|---|"]
        lines += [f"| {name} | {operators[name]} |" for name in sorted(operators)]
        lines.append("")
    return "\n".join(lines)


def parse(text):
    """Returns what `collect` returned for a rendered page."""
    total = int(re.search(r"^Of (\d+) tests, ", text, re.M)[1])
    groups = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        rows = re.findall(r"^\| ([^|]+) \| (\d+) \|$", section, re.M)
        groups[section.splitlines()[0]] = {name: int(count) for name, count in rows}
    return total, groups


def main():
    text = PAGE.read_text()
    total, groups = parse(text)
    if render((total, groups)) != text or not set(groups) <= {reason for _, reason in _REASONS}:
        sys.exit(f"{PAGE} is not as `./dev peers onnx --update-docs` writes it")


if __name__ == "__main__":
    main()
