"""Writes the report of a run as one HTML file: the graph of the network, tables, and its layouts.

Graphviz draws the output of `layout-print-graph`. All numbers are those of `layout-print-graph`, `layout-print-cost`,
`layout-print-strategies` and of the run. The file is self-contained: it includes styles, scripts (web/) and data.
"""

from __future__ import annotations

import html
import importlib.resources
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from layout_mlir import Layout, LayoutError, __version__
from layout_mlir.tools import ToolError, run_tool, whole_file

SCRIPTS = ("layout_map.js", "report.js", "report_graph.js", "report_layout.js")

# The time limit for drawing a network in seconds, and the number of boxes in the picture.
DRAWING_LIMIT, BOXES = 60, 500


def check_path(name: str) -> None:
    """Raises ToolError if the report cannot be written, before a long run starts."""
    path = pathlib.Path(name)
    folder = path.resolve().parent
    if path.is_dir() or not path.name:
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        reason = "it cannot be written"
    else:
        return
    raise ToolError(f"--report {path}: {reason}")


def draw_graph(dot: pathlib.Path, svg: pathlib.Path) -> str | None:
    """Draws a graph and returns None, or returns the reason why there is no picture."""
    if shutil.which("dot") is None:
        return "Graphviz is not installed: its program dot draws the network."
    try:
        done = subprocess.run(["dot", "-Tsvg", dot, "-o", svg], stderr=subprocess.PIPE, text=True,
                              timeout=DRAWING_LIMIT)
    except subprocess.TimeoutExpired:
        return f"Graphviz did not finish the picture of this network within {DRAWING_LIMIT} seconds."
    # A killed process leaves a partial file.
    return None if done.returncode == 0 else f"Graphviz failed: {done.stderr.strip()[:300]}"


def collect(module: pathlib.Path, assigned: pathlib.Path, before: Sequence[str],
            folder: pathlib.Path) -> tuple[dict[str, Any], str]:
    """Returns the data of the page, and the picture of the network as SVG, "" if it cannot be drawn. `module` is the
    original module, `assigned` the one with layouts. `before` are the passes before those of layout-assign, which set
    the target."""
    dot, graph, strategies = (folder / name for name in ("graph.dot", "graph.json", "strategies.json"))
    run_tool("layout-opt", assigned, f"--layout-print-graph=max-boxes={BOXES} output={dot}",
             f"--layout-print-graph=max-boxes={BOXES} format=json output={graph}", "-o", os.devnull)
    run_tool("layout-opt", module, *before, "--layout-prepare", "--layout-canonicalize=keep-families",
             f"--layout-print-strategies=format=json output={strategies}", "-o", os.devnull)
    problem = draw_graph(dot, folder / "graph.svg")
    picture = "" if problem else (folder / "graph.svg").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(graph.read_text())
    data["maps"] = [describe_map(text) for text in data["maps"]]
    data |= {"strategies": json.loads(strategies.read_text()), "problem": problem}
    return data, picture[picture.find("<svg"):]


def describe_map(text: str) -> dict[str, str | None]:
    """Returns the text of a canonical map, and as SVG a small tensor with this map. The picture is None if it cannot be
    drawn."""
    try:
        picture = Layout(f"#layout.map<{text}>")._repr_svg_()
    except LayoutError:  # `text` is empty: the layout does not apply to the type
        picture = None
    return {"text": text, "picture": picture}


def find_processor() -> str:
    """Returns the name of the processor, or that of its architecture if it has none."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            processor = next((line.split(":", 1)[1].strip() for line in file
                              if line.startswith("model name")), platform.processor())
    except OSError:
        processor = platform.processor()
    return processor or platform.machine()


def describe_machine(device: str) -> list[tuple[str, str]]:
    return [("device", device), ("processor", find_processor()),
            ("cores", str(len(os.sched_getaffinity(0)))),
            ("system", f"{platform.system()} {platform.machine()}"),
            ("layout_mlir", __version__)]


def read_web(name: str) -> str:
    return importlib.resources.files("layout_mlir").joinpath("web", name).read_text(encoding="utf-8")


def write(path: str, data: dict[str, Any], picture: str) -> None:
    """Writes the page. The JSON of `data` is escaped, so that text of the model cannot end an HTML element."""
    parts = {
        "title": html.escape(data["name"]),
        "style": read_web("report.css"),
        "script": "".join(map(read_web, SCRIPTS)),
        "graph": picture,
        "data": re.sub("[<>&]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(data)),
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], read_web("report.html"))
    with whole_file(path, "wb") as file:
        file.write(page.encode("utf-8", "replace"))
