"""Renders docs/trained-models.md, the results for trained models that PyPI packages contain, and docs/onnx-sessions.md,
the times of sessions of such models.

    trained_page.py [PAGE]     checks that the pages, or the first one, have the form in which they are written

peers_trained.py writes the pages from its rows. `parse` returns the sections that a page was rendered from, so that its
form can be checked without the models.
"""

import pathlib
import re
import sys

from bench.measured_page import DOCS, Page, parse_table, render_table

PAGE = DOCS / "trained-models.md"

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


def get_stem(model):
    """Returns the name of a model in its package: `name`, or that of the file."""
    return model.get("name") or pathlib.PurePosixPath(model["path"]).stem


def _name(row):
    return f"{row['package']} {row['version']}, {get_stem(row)}"


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
    return _render(f"{matched} of {len(rows)} models match ({circumstances}).", _sections(rows))


def _render(summary, sections):
    parts = [_HEAD, summary, ""]
    for title, text, columns, cells in sections:
        parts += [f"## {title}", "", *([text, ""] if text else []), render_table(columns, cells), ""]
    return "\n".join(parts)


def parse(text):
    """Returns the summary and the sections of a rendered page."""
    summary = re.search(r"^\d+ of \d+ models match \(.*\)\.$", text, re.M)[0]
    sections = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        lines = section.splitlines()
        columns, rows = parse_table(section)
        words = [line for line in lines[1:] if line and not line.startswith("|")]
        sections.append((lines[0], " ".join(words), columns, rows))
    return summary, sections


# ----------------------------------------------------------------------------- sessions

def _session_ratio(row):
    times = {name: each["min"] for name, each in row["times"]["1"].items()}
    return times["session"] / min(times["ours"], times["onnxruntime"])


def _session_cells(row):
    times = row["times"]["1"]
    return [_name(row), *(_number(1e3 * times[runner]["min"], 3) for runner in ("session", "ours", "onnxruntime")),
            f"{_session_ratio(row):.2f}", " and ".join(dict.fromkeys(row["runners"])), len(row["runners"]),
            _number(row["session_seconds"])]


def describe_session(row):
    """Returns a line about the session of a model for the terminal."""
    return f"matched: {' | '.join(map(str, _session_cells(row)))}" if row["status"] == "matched" else describe(row)


def _summarize_sessions(rows):
    within = sum(float(row[4]) <= 1.05 for row in rows)
    return (f"{within} of {len(rows)} sessions take at most 1.05 times as long as the faster of both alone, and "
            f"{max((row[4] for row in rows), key=float)} times at most.")


SESSIONS = Page(DOCS / "onnx-sessions.md", "./dev peers trained --sessions --update-docs", """# Sessions of trained models

`layout_mlir.onnx_session` divides a model between compiled programs and [ONNX
Runtime](embedding.md#beside-onnx-runtime). To see what a session costs beside each of the two alone, run
`./dev peers trained --sessions`. It compares the results of each session with those of ONNX Runtime and times the
session, `layout_mlir.compile` and ONNX Runtime alternately in one process, on one thread. Times are the least in
milliseconds; the ratio is that of the session to the faster of both alone. Seconds of creation include the runs by
which the session chooses. `./dev peers trained --sessions --update-docs [--filter REGEX]` writes the rows of this page.
""", ("model", "session, ms", "compiled, ms", "ONNX Runtime, ms", "ratio", "runners", "parts", "created, s"),
                _summarize_sessions)


def update_sessions(rows, pairs, circumstances):
    """Writes the page of sessions. `pairs` are all packages and models, in the order of the page."""
    order = [_name({"package": package["name"], "version": package["version"], **model}) for package, model in pairs]
    SESSIONS.update([_session_cells(row) for row in rows if row["status"] == "matched"], circumstances, order)


def main(page=PAGE):
    text = pathlib.Path(page).read_text()
    summary, sections = parse(text)
    matched, total = map(int, re.match(r"(\d+) of (\d+)", summary).groups())
    counts = {title: len(rows) for title, _, _, rows in sections}
    if (_render(summary, sections) != text or counts.get("Models that match", 0) != matched
            or counts.get("Others", 0) != total - matched):
        sys.exit(f"{page} is not as `./dev peers trained --update-docs` writes it")
    if page == PAGE:
        sys.exit(SESSIONS.check())


if __name__ == "__main__":
    main(*sys.argv[1:])
