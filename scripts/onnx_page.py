"""docs/onnx-operators.md: which of the ONNX package's tests are refused, and why.

    onnx_page.py     checks that the page is what it would be written as

peers_onnx.py writes the page from outcomes. A page that is read gives the groups
that it was written from, so that its form can be checked without the tests.
"""

import collections
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/onnx-operators.md"

_HEAD = """# ONNX operators that are refused

`./dev peers onnx` runs the operator tests of the ONNX package through the importer, `--layout-to-cpu` and `layout-run`, and compares with the
outputs that the package expects. Whatever runs matches. This page groups by reason what is refused; `./dev peers onnx --update-docs` writes it
anew.

The importer stands on the passes of `iree-base-compiler` from ONNX to torch and on to linalg, and most reasons are theirs. An operator is listed
with the number of its tests that are refused for the reason: others of its tests may be fine. Many take as an input what models have as a
constant (axes, shapes), which is why they are refused.
"""

# In the order of the page: a pattern in the importer's message, and the reason.
_REASONS = [
    (r"layout-opt: |layout-run: .*cannot be compiled",
     "It is imported, and its elements or operations have no lowering to a CPU yet"),
    (r"imported module is wrong", "What IREE's passes make of it computes something else than ONNX Runtime"),
    (r"ONNX and ONNX Runtime differ", "ONNX and ONNX Runtime differ about it"),
    (r"could not be compared", "Neither ONNX Runtime nor the reference evaluator runs it"),
    (r"Unknown ONNX tensor element type|Unsupported builtin tensor type|ONNX type proto|OnnxImportError",
     "IREE's importer knows no such type or form"),
    (r"torch\.operator.*name = \"onnx\.", "There is no conversion of the operator, or of this form of it, to torch"),
    (r"Unhandled type in getScalarTypeForType", "The conversion to torch ends on an element type (unsigned, string, sequence)"),
    (r"failed to legalize operation 'torch\.|backend illegal|are left: ",
     "What it becomes in torch has no lowering to linalg"),
    (r"ended by SIG|no answer within", "The conversion ends without a message"),
    (r"model is not valid", "The ONNX package refuses the model, or its conversion to opset 17"),
    (r"", "The conversion makes an operation that its verifier refuses"),
]


def reason_of(message):
    return next(reason for pattern, reason in _REASONS if re.search(pattern, message))


def _culprits(outcome):
    """The operator that the message names, or that the test is about, or all of the model."""
    named = re.search(r"^node '.*?' \(([\w.]+)\)|\((\w+)\), in its output", outcome.reason)
    if named:
        return [named[1] or named[2]]
    expanded = re.fullmatch(r"test_([a-z0-9]+)_.*expanded.*", outcome.name)
    return [f"{expanded[1]}, its function" if expanded else " + ".join(outcome.operators) or "(none)"]


def collect(outcomes):
    """(tests, refused tests, {reason: {operators: tests}}), the tests that crash among the refused."""
    groups = {reason: collections.Counter() for _, reason in _REASONS}
    refused = [outcome for outcome in outcomes if not outcome.status.startswith("matched")]
    for outcome in refused:
        groups[reason_of(outcome.reason)].update(_culprits(outcome))
    return len(outcomes), len(refused), groups


def render(collected):
    """The text of the page."""
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
    """What the page was rendered from."""
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
