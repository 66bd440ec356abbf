"""Runs NPU programs: a module of npu ops whose tensors have addresses, on arrays.

    program = Program("network.mlir")          # text, or a path; emits C++ and compiles it
    result = program.run(x)                    # one array per input, in the simulator
    result.outputs[0], result.counters["bytes_s2l"]
    program.run(x, on="vendor")                # on the vendor's chip model (npu_chip_model.py)

Errors that the simulator reports are raised as one LayoutError with their text. `python -m
layout_mlir.npu FILE` runs a module on random inputs and prints the counters. The compiler of the emitted C++ is `CXX`;
`LAYOUT_NPU_CXXFLAGS` has further options, e.g. `-O0` to compile large programs faster.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import LayoutError
from .npu_chip_model import Buffer, find_model, run_program, why_not
from .npu_compiler import compile_program, find_simulator, link_program
from .npu_timeline import Event, draw_timeline
from .tools import run_tool

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64,
          "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_}
TIMELINE_EVENTS = 200


class Dim4(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in "nchw"]


class Counters(ctypes.Structure):
    """Mirrors `okk_sim_counters` of sim.h."""
    _fields_ = [(name, ctypes.c_longlong) for name in (
        "transfers", "computes", "bytes_s2l", "bytes_l2s", "bytes_l2l", "bytes_s2s",
        "peak_bytes", "live_bytes", "broadcast_bytes", "useful_ops", "issued_ops",
        "parallel_regions", "overlapped_bytes", "bank_conflicts", "region_conflicts",
        "cycles", "dma_cycles", "compute_cycles")]


class SimulatedEvent(ctypes.Structure):
    """Mirrors `okk_sim_event` of sim.h."""
    _fields_ = [("is_compute", ctypes.c_int), ("begin", ctypes.c_longlong),
                ("end", ctypes.c_longlong), ("name", ctypes.c_char_p)]


class Result(NamedTuple):
    outputs: list[NDArray[Any]]
    counters: dict[str, int]
    errors: list[str]
    events: list[Event]  # at most the requested number


def _get_whole(argument: dict[str, Any], extent: int) -> tuple[list[int], int]:
    """Returns the shape and the bytes of an argument. The manifest states them for one index of a dynamic batch."""
    if not argument["slice"]:
        return argument["shape"], argument["bytes"]
    first, *others = argument["shape"]
    return [extent * first, *others], extent * argument["bytes"]


def _check_ranges(number: int, array: NDArray[Any], ranges: Sequence[dict[str, Any]]) -> None:
    """Raises LayoutError if an element would cause an out-of-range index in the program."""
    for each in ranges:
        part = array[tuple(slice(first, first + count) for first, count in zip(each["first"], each["count"]))]
        wrong = part[(part < each["least"]) | (part > each["most"])]
        if wrong.size:
            raise LayoutError(f"input {number} holds {wrong.flat[0]}, which is not between {each['least']} and "
                              f"{each['most']}: {each['text']}")


def load_simulator(path: pathlib.Path) -> ctypes.CDLL:
    """Loads a library that contains a simulator and declares the functions of sim.h."""
    library, address = ctypes.CDLL(str(path)), ctypes.c_ulonglong
    library.okk_sim_open.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_int]
    library.okk_sim_limit_dma.argtypes = [ctypes.c_int, Dim4, ctypes.c_int]
    library.okk_sim_limit_compute.argtypes = [ctypes.c_int]
    library.okk_sim_set_banks.argtypes = [ctypes.c_int]
    library.okk_sim_set_clock.argtypes = [ctypes.c_char_p, ctypes.c_longlong]
    library.okk_sim_set_clock.restype = ctypes.c_bool
    library.okk_sim_get_event.argtypes = [ctypes.c_int]
    library.okk_sim_get_event.restype = SimulatedEvent
    library.okk_sim_alloc.argtypes = [address]
    library.okk_sim_alloc.restype = address
    for function in (library.okk_sim_write, library.okk_sim_read):
        function.argtypes = [address, ctypes.c_void_p, address]
    library.okk_sim_count.restype = Counters
    library.okk_sim_error.restype = ctypes.c_char_p
    library.okk_sim_run_kernel.argtypes = [ctypes.c_char_p, ctypes.POINTER(address)]
    return library


def open_chip(library: ctypes.CDLL, chip: dict[str, Any]) -> None:
    """Opens a simulated chip, whose parameters are those of a manifest."""
    library.okk_sim_open(chip["npus"], chip["bytes_per_npu"], chip["eu_bytes"])
    library.okk_sim_limit_dma(chip["dma_alignment"], Dim4(*chip["max_shape"]), chip["max_stride"])
    library.okk_sim_limit_compute(chip["max_compute_stride"])
    library.okk_sim_set_banks(chip["banks"])
    for name, value in chip["clock"].items():
        if not library.okk_sim_set_clock(name.encode(), value):
            raise LayoutError(f"the simulator has no parameter {name} of the clock with the value {value}")


def _load(library: pathlib.Path) -> ctypes.CDLL:
    """Loads a private instance of the library, even if one of this name is already loaded."""
    own = library.with_name(f".{secrets.token_hex(8)}.so")
    os.link(library, own)
    try:
        return load_simulator(own.resolve())
    finally:
        own.unlink()


class Program:
    """A compiled function of a module. `folder` keeps the package; the default is a temporary folder.

    Commands that are not functions of OKKernel raise LayoutError, or run in the simulator only with
    `simulator_kernels`.
    """

    def __init__(self, module: str | os.PathLike[str], function: str = "main", checks: bool = True,
                 folder: str | os.PathLike[str] | None = None, cxx: str | None = None,
                 simulator_kernels: bool = False) -> None:
        self._scratch = None
        if folder is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="layout-npu-")
            folder = self._scratch.name
        self.folder = pathlib.Path(folder)
        path = module
        if not isinstance(module, os.PathLike) and "\n" in module:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / "module.mlir"
            path.write_text(module)
        run_tool("layout-translate", "--npu-to-package", f"--function={function}",
                 f"--checks={str(bool(checks)).lower()}",
                 f"--strict-okkernel={str(not simulator_kernels).lower()}", path, "-o", self.folder)
        self.manifest = json.loads((self.folder / "manifest.json").read_text())
        self.arguments = self.manifest["arguments"]
        if self.manifest["chip"] is None:  # the program uses system memory only
            self.manifest["chip"] = {
                "npus": 1, "bytes_per_npu": 1, "eu_bytes": 1, "dma_alignment": 1, "max_shape": [0] * 4,
                "max_stride": 0, "max_compute_stride": 0, "banks": 0, "megahertz": 1000, "clock": {}}
        self.megahertz: int = self.manifest["chip"]["megahertz"]
        text = (self.folder / "program.cpp").read_text()
        # The commands of a real chip, by function, and the kernels that only the simulator runs.
        self.functions = Counter(re.findall(r"\b(?:okk|tpu)_bdc_(\w+)\(", text))
        self.api = "TPU-KERNEL" if "tpu_initialize" in text else "OKKernel"
        self.kernels = text.count("okk_sim_compute_run(")
        self._cxx = cxx
        # Another program may replace the files of the folder before this one runs on another machine.
        self._object = compile_program(self.folder / "program.cpp", cxx, self.kernels > 0)
        link_program(self._object, cxx, self.folder / "program.so", *find_simulator())
        self._library = _load(self.folder / "program.so")

    def _check(self, inputs: Sequence[ArrayLike]) -> tuple[list[NDArray[Any]], int]:
        """Checks the inputs; returns them as contiguous arrays, and the extent of the dynamic batch."""
        wanted = [argument for argument in self.arguments if argument["role"] == "input"]
        if len(inputs) != len(wanted):
            raise LayoutError(f"the program has {len(wanted)} inputs, but {len(inputs)} are given")
        batches = [np.shape(value)[0] for argument, value in zip(wanted, inputs)
                   if argument["slice"] and np.ndim(value)]
        extent = batches[0] if batches else 1
        arrays = []
        for number, (argument, value) in enumerate(zip(wanted, inputs)):
            array = np.ascontiguousarray(value)
            dtype = DTYPES.get(argument["element"])
            shape, size = _get_whole(argument, extent)
            if (dtype is None or array.dtype != dtype or array.size * array.itemsize != size
                    or list(np.shape(value)) != shape):
                raise LayoutError(f"input {number} is {shape} of {argument['element']} in {size} bytes, found "
                                  f"{list(np.shape(value))} of {array.dtype}")
            _check_ranges(number, array, argument["ranges"])
            arrays.append(array)
        return arrays, extent

    def milliseconds(self, cycles: int) -> float:
        return cycles / self.megahertz / 1e3

    def run(self, *inputs: ArrayLike, check: bool = True, events: int = 0,
            on: Literal["simulator", "vendor"] = "simulator") -> Result:
        """Runs the program on a new simulator, or on the vendor's chip model. The result has the first `events`
        commands, and the counters that the machine has. With `check`, errors that the simulator reports raise
        LayoutError; a command that the vendor's model refuses always raises ChipModelError.
        """
        arrays, extent = self._check(inputs)
        buffers = self._make_buffers(iter(arrays), extent)
        scalars = [extent] if any(argument["slice"] for argument in self.arguments) else []
        if on == "vendor":
            return self._run_on_vendor(buffers, scalars, events)
        open_chip(self._library, self.manifest["chip"])
        try:
            return self._run_on_simulator(buffers, scalars, check, events)
        finally:
            self._library.okk_sim_close()

    def _make_buffers(self, arrays: Iterator[NDArray[Any]], extent: int) -> list[Buffer]:
        """Returns the buffers whose addresses are the program's parameters, in their order."""
        buffers = []
        if size := self.manifest["constants"]:
            buffers.append(Buffer(size, np.memmap(self.folder / "constants.bin", mode="r")))
        for argument in self.arguments:
            shape, size = _get_whole(argument, extent)
            role = argument["role"]
            buffers.append(Buffer(size, next(arrays) if role == "input" else None,
                                  np.zeros(shape, DTYPES[argument["element"]]) if role == "result" else None))
        return buffers

    def has_chip_model(self) -> bool:
        """Returns true if the vendor's model of the program's chip is installed and has all functions of the
        program."""
        return self.kernels == 0 and find_model(self.manifest["chip"]) is not None

    def _run_on_vendor(self, buffers: Sequence[Buffer], scalars: Sequence[int], events: int) -> Result:
        model = find_model(self.manifest["chip"])
        if model is None:
            raise LayoutError(why_not(self.manifest["chip"]))
        if self.kernels:
            raise LayoutError(f"{self.manifest['kernel']} has {self.kernels} commands that are not functions of "
                              f"{self.api}, which only the simulator runs")
        outputs, counters, ran = run_program(model, self._object, self._cxx, self.manifest["kernel"], buffers, scalars)
        return Result(outputs, counters, [], ran[:events])

    def _run_on_simulator(self, buffers: Sequence[Buffer], scalars: Sequence[int], check: bool,
                          events: int) -> Result:
        library, addresses = self._library, []
        for buffer in buffers:
            addresses.append(library.okk_sim_alloc(max(buffer.bytes, 1)))
            if buffer.data is not None and buffer.bytes:
                library.okk_sim_write(addresses[-1], buffer.data.ctypes.data, buffer.bytes)
        parameters = [*addresses, *scalars]
        library.okk_sim_run_kernel(self.manifest["kernel"].encode(),
                                   (ctypes.c_ulonglong * len(parameters))(*parameters))
        outputs = []
        for address, buffer in zip(addresses, buffers):
            if buffer.result is not None:
                outputs.append(buffer.result)
                if buffer.result.nbytes:  # the buffer may have padding behind them
                    library.okk_sim_read(address, buffer.result.ctypes.data, buffer.result.nbytes)
        errors = [library.okk_sim_error(i).decode() for i in range(library.okk_sim_num_errors())]
        if check and errors:
            shown = errors[:20] + [f"({len(errors) - 20} more)"] * (len(errors) > 20)
            raise LayoutError("the program violates rules of the chip:\n" + "\n".join(shown))
        counted = library.okk_sim_count()
        counters = {name: getattr(counted, name) for name, *_ in Counters._fields_}
        first = [library.okk_sim_get_event(i)
                 for i in range(min(events, library.okk_sim_num_events()))]
        return Result(outputs, counters, errors,
                      [Event("compute" if each.is_compute else "dma", each.begin, each.end,
                             each.name.decode()) for each in first])


def utilization(counters: dict[str, int]) -> str:
    """Formats the busy share of each engine."""
    cycles = max(counters["cycles"], 1)
    return (f"DMA {counters['dma_cycles'] / cycles:.1%}, "
            f"execution units {counters['compute_cycles'] / cycles:.1%}")


def main(argv: Sequence[str] | None = None, prog: str = "python -m layout_mlir.npu") -> int:
    parser = argparse.ArgumentParser(prog=prog, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--function", default="main")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1,
                        help="size of a dynamic batch (default: %(default)s)")
    parser.add_argument("--simulator-kernels", action="store_true",
                        help="also run ops that are not OKKernel functions, which only the simulator supports")
    parser.add_argument("--on", choices=("simulator", "vendor"), default="simulator",
                        help="the machine: the simulator, or the vendor's chip model")
    parser.add_argument("--timeline", type=pathlib.Path, metavar="FILE.svg",
                        help="draw the first commands to this file")
    parser.add_argument("--events", type=int, default=TIMELINE_EVENTS,
                        help="number of commands to draw (default: %(default)s)")
    args = parser.parse_args(argv)
    try:
        program = Program(args.file, args.function, simulator_kernels=args.simulator_kernels)
        random = np.random.default_rng(args.seed)
        inputs: list[NDArray[Any]] = [
            random.integers(-8, 8, _get_whole(argument, args.batch)[0]).astype(DTYPES[argument["element"]])
            for argument in program.arguments if argument["role"] == "input"]
        result = program.run(*inputs, events=max(args.events, 0) if args.timeline else 0, on=args.on)
        counters = result.counters
        for name, value in counters.items():
            print(f"{name:<18}{value:>16}")
        if counters.get("issued_ops"):
            print(f"{'lane utilization':<18}{counters['useful_ops'] / counters['issued_ops']:>15.1%}")
        print(f"{'predicted time':<18}{program.milliseconds(counters['cycles']):>13.3f} ms, "
              f"{utilization(counters)}")
        if args.timeline:
            args.timeline.write_text(draw_timeline(result.events, program.megahertz))
    except (RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
