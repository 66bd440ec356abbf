"""Renders docs/trained-models.md, the results for trained models that PyPI packages contain.

    trained_page.py [PAGE]     checks that the page has the form in which it is written

peers_trained.py writes the page from its rows. `parse` returns the sections that a page was rendered from, so that its
form can be checked without the models.
"""

import dataclasses
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/trained-models.md"

_HEAD = """# Trained models

`./dev peers trained` imports trained ONNX models that packages of PyPI carry
([the list](../scripts/trained_models.toml)), compiles and runs them by `layout_mlir.compile` and by `layout_mlir.run`,
and compares their results with those of ONNX Runtime. `./dev peers trained --update-docs` writes this page anew.

Seconds of import are those of a process in which the packages are loaded. Seconds of compile() include the import and
a run of ONNX Runtime to compare with; a kept program is one that an earlier process compiled. The difference is the
largest one of a result, relative to its largest element. MB are those that conversions of activations between layouts
read and write.
"""
_COLUMNS = ["model", "what it finds", "nodes", "import s", "compile s", "kept s", "difference", "conversions", "MB",
            "peak MB"]
_TIMES = ["model", "1 thread", "ONNX Runtime", "2 threads", "ONNX Runtime"]
_REFUSED = ["model", "what becomes of it", "why"]


@dataclasses.dataclass
class Circumstances:
    """The date and the machine of a measurement."""
    date: str
    machine: str


def _name(row):
    return f"{row['package']} {row['version']}, {pathlib.PurePosixPath(row['path']).stem}"


def _number(value, digits=2):
    """Formats a number with `digits` significant digits, or as a whole number from 100 on; None as an empty text."""
    return "" if value is None else f"{value:.{digits}g}" if value < 100 else f"{value:,.0f}"


def _cells(row):
    return [_name(row), row["kind"], row["nodes"], _number(row["import_seconds"]), _number(row["compile_seconds"]),
            _number(row["start_seconds"]), _number(row["difference"], 1), row["conversions"],
            _number(row["conversion_megabytes"]), _number(row["run_peak_megabytes"], 3)]


def _times(row):
    return [_name(row), *(f"{_number(1e3 * row['times'][threads][runtime]['min'], 3)} "
                          f"({_number(1e3 * row['times'][threads][runtime]['median'], 3)})"
                          for threads in "12" for runtime in ("ours", "onnxruntime"))]


def describe(row):
    """Returns a line about a model for the terminal."""
    if row["status"] != "matched":
        return f"{row['status']}: {_name(row)}: {row['reason'][:600]}"
    line = (f"matched: {_name(row)}: import {_number(row['import_seconds'])} s, "
            f"compile {_number(row['compile_seconds'])} s, kept {_number(row['start_seconds'])} s, "
            f"difference {_number(row['difference'], 1)}, {row['conversions']} "
            f"conversions of {_number(row['conversion_megabytes'])} MB, {_number(row['run_peak_megabytes'], 3)} MB")
    return line + (f", ms {' / '.join(_times(row)[1:])}" if "times" in row else "")


def describe_on_chip(row):
    """Returns a line about a model on an NPU for the terminal."""
    if row["status"] != "matched":
        return describe(row)
    return (f"matched: {_name(row)}: compile {_number(row['compile_seconds'])} s, difference "
            f"{_number(row['difference'], 1)}, {_number(row['milliseconds'], 3)} ms by the clock")


def _table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _sections(rows):
    """Returns [(title, text, columns, cells)] for the tables that have rows."""
    matched = [row for row in rows if row["status"] == "matched"]
    others = [row for row in rows if row["status"] != "matched"]
    timed = [row for row in matched if "times" in row]
    return [each for each in (
        ("Models that match", "", _COLUMNS, [_cells(row) for row in matched]),
        ("Times of a run", "Milliseconds, the least and in brackets the median of runs that alternate with ONNX Runtime.",
         _TIMES, [_times(row) for row in timed]),
        ("Others", "", _REFUSED, [[_name(row), row["status"], _in_a_cell(row["reason"])] for row in others]),
    ) if each[3]]


def _in_a_cell(text):
    return re.sub(r"\s+", " ", text.split("\n")[0]).replace("|", "\\|")[:300]


def render(rows, circumstances):
    """Returns the text of the page."""
    matched = sum(row["status"] == "matched" for row in rows)
    return _render(f"{matched} of {len(rows)} models match ({circumstances.date}, {circumstances.machine}).",
                   _sections(rows))


def _render(summary, sections):
    parts = [_HEAD, summary, ""]
    for title, text, columns, cells in sections:
        parts += [f"## {title}", "", *([text, ""] if text else []), _table(columns, cells), ""]
    return "\n".join(parts)


def parse(text):
    """Returns the summary and the sections of a rendered page."""
    summary = re.search(r"^\d+ of \d+ models match \(.*\)\.$", text, re.M)[0]
    sections = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        lines = section.splitlines()
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
        rows = [[cell.strip() for cell in row] for row in rows]
        words = [line for line in lines[1:] if line and not line.startswith("|")]
        sections.append((lines[0], " ".join(words), rows[0], rows[2:]))
    return summary, sections


def main(page=PAGE):
    text = pathlib.Path(page).read_text()
    summary, sections = parse(text)
    matched, total = map(int, re.match(r"(\d+) of (\d+)", summary).groups())
    counts = {title: len(rows) for title, _, _, rows in sections}
    if (_render(summary, sections) != text or counts.get("Models that match", 0) != matched
            or counts.get("Others", 0) != total - matched):
        sys.exit(f"{page} is not as `./dev peers trained --update-docs` writes it")


if __name__ == "__main__":
    main(*sys.argv[1:])
