"""Renders docs/onnx-operators.md, the refused tests of the ONNX package by reason.

    onnx_page.py     checks that the page has the form in which it is written

peers_onnx.py writes the page from the outcomes of the tests. `parse` returns the groups that a page was rendered from,
so that its form can be checked without running the tests.
"""

import collections
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/onnx-operators.md"

_HEAD = """# ONNX operators that are refused

`./dev peers onnx` runs the operator tests of the ONNX package by `layout_mlir.compile` and by the tools (the importer,
`--layout-to-cpu` and `layout-run`), and compares the results with the outputs that the package expects. Every test that
runs matches, unless ONNX and ONNX Runtime differ about its operator. This page groups the refused and the differing
tests by reason; `./dev peers onnx --update-docs` regenerates it.

An operator is listed with the number of its tests that are refused for the reason: others of its tests may be fine.
"""

# Pairs of a pattern of the message and its reason, in the order of the page.
_REASONS = [
    (r"strings|STRING", "Strings are not tensors of numbers"),
    (r"is not a tensor|OPTIONAL|sequence", "An input or a result of the model is a sequence or an optional"),
    (r"the result differs each time|random", "The result is another one each time"),
    (r"compressed images", "It decodes compressed images"),
    (r"is not a constant|is not known|is unknown", "What other programs give as a constant is an input of the model"),
    (r"compile\(\): result|result \d+:", "ONNX and ONNX Runtime differ about it, and the program computes what ONNX Runtime does"),
    (r"compile\(\): |layout-opt: |layout-run: ", "It is imported, and its elements or operations have no lowering to a CPU yet"),
    (r"model is not valid", "The ONNX package refuses the model"),
    (r"", "The form of the operator is not imported"),
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
    """Returns (number of tests, number refused, {reason: {operators: tests}}). Crashes count as refused."""
    groups = {reason: collections.Counter() for _, reason in _REASONS}
    refused = [outcome for outcome in outcomes if not outcome.status.startswith("matched")]
    for outcome in refused:
        groups[reason_of(outcome.reason)].update(_culprits(outcome))
    return len(outcomes), len(refused), groups


def render(collected):
    """Returns the text of the page."""
    total, refused, groups = collected
    lines = [_HEAD, f"{refused} of {total} tests are refused.", ""]
    for reason, operators in groups.items():
        if not operators:
            continue
        lines += [f"## {reason}", "", f"{sum(operators.values())} tests.", "", "| operators | tests |", "|---|---|"]
        lines += [f"| {name} | {operators[name]} |" for name in sorted(operators)]
        lines.append("")
    return "\n".join(lines)


def parse(text):
    """Returns what `collect` returned for a rendered page."""
    refused, total = map(int, re.search(r"^(\d+) of (\d+) tests are refused\.$", text, re.M).groups())
    groups = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        rows = re.findall(r"^\| ([^|]+) \| (\d+) \|$", section, re.M)
        groups[section.splitlines()[0]] = {name: int(count) for name, count in rows}
    return total, refused, groups


def main():
    text = PAGE.read_text()
    total, refused, groups = parse(text)
    known = [reason for _, reason in _REASONS]
    if render((total, refused, groups)) != text or not set(groups) <= set(known) or \
            sum(sum(group.values()) for group in groups.values()) != refused:
        sys.exit(f"{PAGE} is not as `./dev peers onnx --update-docs` writes it")


if __name__ == "__main__":
    main()
