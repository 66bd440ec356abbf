"""./dev bench --devices: networks on PoCL, on Intel's OpenCL device and on a Vulkan device.

One row has the largest difference of a result from the CPU, the conversions of the layouts and their bytes, and what
the profile of the device's runtime counts in one run: launches, the bytes that the kernels read and write (repeated
reads included), the buffers and images that were made, and the most bytes in use. It is an error if two devices differ
in any of these counts. All calls of Vulkan are checked, if the validation layer is installed.
"""

import argparse
import json
import os
import pathlib
import re

from layout_mlir.run import DEVICES as PIPELINES
from layout_mlir.tools import ToolError, run_tool, run_tool_for_all
from networks import NETWORKS

from .images import TARGET
from .rows import measure_rows, write_json, write_network

NAMES = ("resnet50", "mobilenet_v2", "bert_base", "vit_b16", "unet", "sd_unet", "llama3_8b_decode")
LAYER = pathlib.Path("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json")
# The pipeline of a device, and what selects it and prints its counts. The driver of Intel's device is optional.
DRIVER = pathlib.Path(os.environ["LAYOUT_BUILD_DIR"], "intel-opencl/venv/lib/libintelocl.so")
DEVICES = {"PoCL": ("opencl", {"LAYOUT_OPENCL_DEVICE": "Portable", "LAYOUT_OPENCL_PROFILE": "1"}),
           "Intel": ("opencl", {"OCL_ICD_FILENAMES": str(DRIVER), "LD_LIBRARY_PATH": str(DRIVER.parent),
                                "LAYOUT_OPENCL_DEVICE": "Intel", "LAYOUT_OPENCL_PROFILE": "1"}),
           "Vulkan": ("vulkan", {"LAYOUT_VULKAN_CHECK": str(int(LAYER.exists())), "LAYOUT_VULKAN_PROFILE": "1"})}
COUNTS = re.compile(r"(?P<launches>\d+) launches of kernels, (?P<moved>\d+|an unknown number of) bytes read and written, "
                    r".* operations\n(?P<made>\d+) buffers and images made, (?P<used>\d+) bytes at most in use")


def find_devices():
    """Returns the names of the devices of this machine."""
    return [name for name in DEVICES if name != "Intel" or DRIVER.exists()]


def lower(module, device, target):
    """Lowers the module for a device and returns the program."""
    program = module.with_suffix(f".{device}.mlirbc")
    options = f"target={{{target}}}" + (" cpu=host" if device == "cpu" else "")
    run_tool("layout-opt", module, f"--{PIPELINES[device][1]}={options}", "--emit-bytecode", "--verify-each=false",
             "-o", program)
    return program


def run(device, cpu, program, inputs, max_rel):
    """Runs a program on a device and returns its counts and the largest difference from the CPU."""
    out = program.with_suffix(".json")
    before = dict(os.environ)
    os.environ.update(DEVICES[device][1])
    try:
        log = run_tool_for_all("layout-run", cpu, program, *inputs, "--warmup=0", "--repeat=1", f"--max-rel={max_rel}",
                               f"--json={out}")[1]
    finally:
        os.environ.clear()
        os.environ.update(before)
    found = COUNTS.search(log)
    if not found:
        raise ToolError(f"{device}: the log has no counts:\n{log}")
    last = json.loads(out.read_text().splitlines()[-1])
    counts = {key: int(text) if text.isdigit() else None for key, text in found.groupdict().items()}
    return {"device": last["device"]["name"], "counts": counts,
            "difference": max(each["max_rel"] for each in last["differences"])}


def measure(name, folder, args):
    module, inputs = write_network(name, not args.full, folder)
    table = folder / "cost.json"
    run_tool("layout-opt", module, f"--layout-set-target=target={{{args.target}}}", "--layout-assign",
             f"--layout-print-cost=format=json output={table}", "-o", "/dev/null")
    moved = json.loads(table.read_text())["conversions"]
    cpu = lower(module, "cpu", PIPELINES["cpu"][0])
    programs = {api: lower(module, api, args.target) for api in sorted({DEVICES[each][0] for each in args.device})}
    rows = {each: run(each, cpu, programs[DEVICES[each][0]], inputs, args.max_rel) for each in args.device}
    counts = {each: row["counts"] for each, row in rows.items()}
    if any(each != counts[args.device[0]] for each in counts.values()):
        raise ToolError(f"{name}: devices differ in {counts}")
    return {"network": name, "conversions": sum(row["kind"] != "view" for row in moved["rows"]),
            "bytes": moved["bytes_read"] + moved["bytes_written"], **counts[args.device[0]],
            "devices": {each: {key: row[key] for key in ("device", "difference")} for each, row in rows.items()}}


def show(row):
    differences = " | ".join(f"{each['difference']:.1e}" for each in row["devices"].values())
    moved = "unknown" if row["moved"] is None else f"{row['moved'] / 1e6:.2f}"
    return (f"| {row['network']} | {differences} | {row['conversions']} | {row['bytes'] / 1e6:.3f} | {row['launches']} | "
            f"{moved} | {row['made']} | {row['used'] / 1e6:.2f} |")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --devices", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", action="append", choices=sorted(NETWORKS),
                        help=f"may be repeated (default: {', '.join(NAMES)})")
    parser.add_argument("--device", action="append", choices=DEVICES, help="may be repeated (default: all that are here)")
    parser.add_argument("--full", action="store_true", help="at full size, not as in the tests")
    parser.add_argument("--target", default=TARGET, help=f"default: {TARGET}")
    parser.add_argument("--max-rel", type=float, default=1e-4,
                        help="largest allowed difference of a result, relative to its largest value")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    args.device = args.device or find_devices()
    print(f"| network | {' | '.join(args.device)} | conversions | MB | launches | MB of kernels | made | MB in use |\n"
          f"|---|{'---:|' * (len(args.device) + 6)}", flush=True)
    rows, complete = measure_rows(args.network or NAMES, lambda name, folder: measure(name, folder, args), show)
    write_json(args.json, target=args.target, rows=rows)
    return 0 if complete else 1
