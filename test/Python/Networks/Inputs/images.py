"""Checks layouts of networks on a device with images: proven, and without conversions between convolutions.

usage: images.py FOLDER

Assigns layouts for the target `#layout.opencl`. The cost must be the lower bound, the conversions in the program must
cost what was decided, and greedy insertion as in MACE must not cost less. At full size convolutional networks have
conversions at their ends only, and every convolution reads and writes images and has its filter in one, which is packed
at compile time; the first one, with three channels, may read its input unconverted.
"""

import json
import pathlib
import re
import sys

from bench.baselines import GREEDY, OPTIMAL, decision
from bench.images import TARGET
from layout_mlir.tools import run_tool
from networks import NETWORKS

# Networks whose channels are whole pixels, except the first ones.
CONVOLUTIONAL = ("resnet50", "mobilenet_v2", "inception_v3")
CONVOLUTION = re.compile(r"linalg\.(?:depthwise_)?conv\w+ .*? ins\((.*?)\) outs\(.*\) -> (.*)")


def assign(path, rule):
    """Returns the program and its table of conversions."""
    table = path.with_suffix(".json")
    tool, decide, insert = decision(rule, f"target={{{TARGET}}}")
    text = run_tool(tool, path, "--layout-canonicalize", decide, insert,
                    f"--layout-print-cost=format=json output={table} target={{{TARGET}}}",
                    "--layout-fold-converts", "--layout-verify", "--mlir-print-local-scope")
    return text, json.loads(table.read_text())


def check(path, ends):
    """Returns the problems; `ends` is the maximal number of conversions if only the ends need any."""
    text, table = assign(path, OPTIMAL)
    assignment = table["assignment"]
    if assignment["cost"] != assignment["lower_bound"]:
        yield f"the cost {assignment['cost']} is not the bound {assignment['lower_bound']}"
    _, greedy = assign(path, GREEDY)
    if greedy["assignment"]["cost"] < assignment["cost"]:
        yield f"greedy insertion costs {greedy['assignment']['cost']}, less than the optimum"
    for name, found in (OPTIMAL, table), (GREEDY, greedy):
        # The decision may price a conversion between identical storage at 1; the table prices it at 0.
        views = sum(row["kind"] == "view" for row in found["conversions"]["rows"])
        decided = found["assignment"]["conversion_cost"]
        if not decided - views <= found["conversions"]["cost"] <= decided:
            yield (f"{name}: conversions cost {found['conversions']['cost']}, decided were "
                   f"{found['assignment']['conversion_cost']}")
    print(f"{path.stem}: {table['conversions']['transitions']}, greedy "
          f"{greedy['conversions']['transitions']}")
    if ends is None:
        return
    if table["conversions"]["count"] > ends:
        yield f"there are {table['conversions']['count']} conversions, not {ends}"
    if any("image2d" in row["from"] for row in table["constants"]["rows"]):
        yield "a constant is no image but converted from one"
    for line in text.splitlines():
        found = CONVOLUTION.search(line)
        images = found and found[1].count("image2d") + ("tensor<1x3x" in found[1])
        if found and (images < 2 or "image2d" not in found[2]):
            yield f"a convolution without images: {line.strip()[:200]}"


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in ("resnet50", "mobilenet_v2", "inception_v3", "unet", "bert_base", "vit_b16"):
        for size, ends in ("small", None), ("full", 2 if name in CONVOLUTIONAL else None):
            network = NETWORKS[name]
            options = network.small_options if size == "small" else network.Options
            path = folder / f"{name}-{size}.mlir"
            with open(path, "w") as file:
                network.build(options(weights="splat")).write(file)
            failed += [f"{path.stem}: {what}" for what in check(path, ends)]
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
