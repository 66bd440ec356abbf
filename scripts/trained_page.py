"""The pages of trained models that PyPI packages contain: docs/trained-models.md, docs/onnx-sessions.md, the times of
sessions of such models, and docs/loaded-models.md, their times on a busy machine. peers_trained.py writes them.

    trained_page.py     checks that the pages have the form in which they are written
"""

import pathlib
import re
import sys

from bench import loaded
from bench.measured_page import DOCS, Page


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
            _number(row["conversion_megabytes"]), _number(row["run_peak_megabytes"], 3), *_times(row)]


def _times(row):
    return [_number(1e3 * row["times"][threads][runtime]["min"], 3)
            for threads in "12" for runtime in ("ours", "onnxruntime")]


def describe(row):
    """Returns a line about a model for the terminal."""
    if row["status"] != "matched":
        return f"{row['status']}: {_name(row)}: {row['reason'][:600]}"
    line = (f"matched: {_name(row)}: import {_number(row['import_seconds'])} s, "
            f"compile {_number(row['compile_seconds'])} s, kept {_number(row['start_seconds'])} s, "
            f"difference {_number(row['difference'], 1)}, {row['conversions']} "
            f"conversions of {_number(row['conversion_megabytes'])} MB, {_number(row['run_peak_megabytes'], 3)} MB")
    return line + (f", ms {' / '.join(_times(row))}" if "times" in row else "")


def describe_on_chip(row):
    """Returns a line about a model on an NPU for the terminal."""
    if row["status"] != "matched":
        return describe(row)
    return (f"matched: {_name(row)}: compile {_number(row['compile_seconds'])} s, difference "
            f"{_number(row['difference'], 1)}, {_number(row['milliseconds'], 3)} ms by the clock")


def _milliseconds(cell):
    return float(cell.replace(",", ""))


def _summarize(rows):
    faster = [sum(_milliseconds(row[at]) < _milliseconds(row[at + 1]) for row in rows) for at in (10, 12)]
    return (f"{len(rows)} models match; {faster[0]} are faster than ONNX Runtime on one thread, and {faster[1]} on two.")


MODELS = Page(DOCS / "trained-models.md", "./dev peers trained --update-docs", """# Trained models

`./dev peers trained` imports trained ONNX models that packages of PyPI carry
([the list](../scripts/trained_models.toml)), compiles and runs them by `layout_mlir.compile` and by `layout_mlir.run`,
and compares their results with those of ONNX Runtime. `./dev peers trained --update-docs [--filter REGEX]` writes the
rows of this page.

Seconds of import are those of a process in which the packages are loaded. Seconds of compile() include the import and
a run of ONNX Runtime to compare with; a kept program is one that an earlier process compiled. The difference is the
largest one of a result, relative to its largest element. MB are those that conversions of activations between layouts
read and write. Times are the least of runs that alternate with ONNX Runtime (ORT), on one thread and on two.
""", ("model", "what it finds", "nodes", "import, s", "compile, s", "kept, s", "difference", "conversions", "MB",
      "peak MB", "1 thread, ms", "ORT, ms", "2 threads, ms", "ORT, ms"), _summarize)


# ----------------------------------------------------------------------------- sessions

def _session_ratio(row):
    times = {name: each["min"] for name, each in row["times"]["1"].items()}
    return times["session"] / min(times["ours"], times["onnxruntime"])


def _session_cells(row):
    times = row["times"]["1"]
    return [_name(row), *(_number(1e3 * times[runner]["min"], 3) for runner in ("session", "ours", "onnxruntime")),
            f"{_session_ratio(row):.2f}", " and ".join(dict.fromkeys(row["runners"])), len(row["runners"]),
            _number(row["session_seconds"])]


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


# ------------------------------------------------------------------------- busy machine

def _loaded_cells(row):
    cells = [_name(row)]
    for each in row["loaded"].values():
        cells += [loaded.show_time(each["runtimes"].get(runtime, {})) for runtime in loaded.RUNTIMES]
        cells.append(loaded.show_ratio(each["ratio"]))
    return cells


def _summarize_loaded(rows):
    ratios = [[float(row[at].split()[0]) for row in rows if row[at] != "-"] for at in (4, 8)]
    within = [sum(ratio <= loaded.MOST_RATIO for ratio in each) for each in ratios]
    return (f"On one thread {within[0]} of {len(ratios[0])} models take at most {loaded.MOST_RATIO} times as long as the "
            f"faster of the others, on two threads {within[1]} of {len(ratios[1])}.")


LOADED = Page(DOCS / "loaded-models.md", "./dev peers trained --loaded --update-docs", """# Trained models on a busy machine

`./dev peers trained --loaded` measures [trained models](trained-models.md) as
[./dev bench --loaded](cpu-performance.md#beside-other-programs) measures networks: beside one busy process per
processor, `layout_mlir.compile`, ONNX Runtime (ORT) and OpenVINO run alternately. Times are medians in milliseconds, in
parentheses the 90th percentile. The ratio is the median over rounds of our time divided by that of the faster of the
others. A runtime without a time fails, or computes something else than ONNX Runtime.
`./dev peers trained --loaded --update-docs [--filter REGEX]` writes the rows of this page.
""", ("model", "1 thread, ms", "ORT", "OpenVINO", "ratio", "2 threads, ms", "ORT", "OpenVINO", "ratio"),
              _summarize_loaded)


_CELLS = {MODELS: _cells, SESSIONS: _session_cells, LOADED: _loaded_cells}


def describe_row(page, row):
    """Returns a line about a row of SESSIONS or LOADED for the terminal."""
    return f"matched: {' | '.join(map(str, _CELLS[page](row)))}" if row["status"] == "matched" else describe(row)


def update(page, rows, pairs, circumstances):
    """Writes a page. `pairs` are all packages and models, in its order."""
    order = [_name({"package": package["name"], "version": package["version"], **model}) for package, model in pairs]
    page.update([_CELLS[page](row) for row in rows if row["status"] == "matched"], circumstances, order)


if __name__ == "__main__":
    sys.exit(MODELS.check() or SESSIONS.check() or LOADED.check())
