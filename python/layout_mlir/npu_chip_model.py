"""Runs NPU programs on the vendor's chip model, a library that computes and counts cycles as the vendor says the chip
does.

    model = find_model(program.manifest["chip"])      # the path of a library, or None
    program.run(x, on="vendor")                       # npu.py

A program runs in a process of its own, because the model is one chip per process and ends the process if a command
breaks a rule of the chip. `./dev test` installs the models; `LAYOUT_CHIP_MODELS` is another folder with them. The model
of BM1684 has the functions of OKKernel, and those of BM1684X and BM1688 have TPU-KERNEL's.
`python -m layout_mlir.npu_chip_model` loads each of them and prints the parameters of its chip.
"""

import ctypes
import os
import pathlib
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import LayoutError, Target
from .isolated import Crashed, isolated
from .npu_compiler import find_build, find_includes, link_program, run_compiler
from .npu_timeline import Event

LIBRARIES = {"BM1684": "libbackend_bm1684.so", "BM1684X": "libbackend_bm1684x.so", "BM1688": "libbackend_bm1688.so"}
SECONDS = 3600
PAGE = 4096
DIRECTIONS = ("bytes_s2l", "bytes_l2s", "bytes_s2s", "bytes_l2l")
F32 = 5  # TPU-KERNEL's number of the type
# The functions that the model calls, and those of sim.h that programs call if they have checks. `exit` must not run the
# exit handlers of the libraries of the parent process.
HOST = r"""
#include "layout/Targets/NPU/Simulator/okk/sim.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
void fw_log(int level, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
}
void nodechip_gru_bf16(void) {}
static void end(int status, void *unused) {
  fflush(NULL);
  _exit(status);
}
__attribute__((constructor)) static void start(void) { on_exit(end, NULL); }
void okk_sim_share_holes(void) {}
void okk_sim_declare_tensor(local_addr_t a, unsigned b, unsigned c) {}
void okk_sim_declare_elements(local_addr_t a, int b, const dim4 *c, const dim4 *d) {}
void okk_sim_number_elements(local_addr_t a, int b, const dim4 *c, const dim4 *d, long long e, const dim4 *f) {}
void okk_sim_release_tensor(local_addr_t a) {}
void okk_sim_expect(int a, const long long *b, int c, const okk_sim_side *d) {}
void okk_sim_expect_end(void) {}
"""
# A command of the profile, e.g. |TENSOR_GDMA|s:0|b:0|g:1|e:556|t:557|dr:0|sz:22400.
COMMAND = re.compile(r"\|(\w+)\|s:(\d+)\|b:\d+\|g:\d+\|e:(\d+)\|t:(\d+)(?:\|dr:(\d)\|sz:(\d+))?")
# The numbers of commands of the model that may make up a function of OKKernel, if not 1.
COMMANDS_OF: dict[str, Sequence[int]] = {
    "exp": (7,), "sigmoid": (10,), "tanh": (11,), "sqrt": (2,), "equal_select": (2,), "taylor_exp": (2,),
    "int8_to_fp32": range(5, 11)}
ASSERTION = re.compile(r"ASSERT(?:_FS)? [^:\n]*: (.*?): \d+: (.*)\nASSERT info: (.*)")


class ChipModelError(LayoutError):
    """Raised if the vendor's chip model ends at a command; the message has the program's name and the model's text."""


class Buffer(NamedTuple):
    """A buffer of system memory for a program: input data, an array for the result, or neither."""
    bytes: int
    data: NDArray[Any] | None = None
    result: NDArray[Any] | None = None


def find_models() -> pathlib.Path | None:
    """Returns the folder of the installed models, or None."""
    own = os.environ.get("LAYOUT_CHIP_MODELS")
    build = find_build()
    # A sanitizer build is nested in the plain one.
    folders = [pathlib.Path(own)] if own else [build / "chip-models", build.parent / "chip-models"]
    return next((folder for folder in folders if (folder / LIBRARIES["BM1684"]).exists()), None)


def find_model(chip: dict[str, Any]) -> pathlib.Path | None:
    """Returns the path of the model of this chip, or None."""
    models = find_models()
    if models is None:
        return None
    for name, library in LIBRARIES.items():
        published = Target.named(name)
        if all(chip[each] == getattr(published, each) for each in ("npus", "bytes_per_npu", "eu_bytes")):
            return models / library
    return None


MISSING = "the vendor's chip model is not installed: run ./dev test, or set LAYOUT_CHIP_MODELS"


def why_not(chip: dict[str, Any]) -> str:
    """Returns the reason why no model is found for this chip."""
    if find_models() is None:
        return MISSING
    return (f"the vendor's chip models are those of {', '.join(LIBRARIES)}; the program is for a chip of "
            f"{chip['npus']} cores with {chip['bytes_per_npu']} bytes")


def make_host(cxx: str | None, folder: pathlib.Path) -> pathlib.Path:
    """Compiles the functions that the model calls; returns the path of the library."""
    source, library = folder / "host.c", folder / "host.so"
    source.write_text(HOST)
    run_compiler(cxx, "-shared", "-fPIC", "-w", *find_includes(), "-x", "c", source, "-o", library)
    return library


class ChipModel:
    """The chip model in this process, which cannot have another one. `api` is the prefix of its functions."""

    def __init__(self, model: pathlib.Path, host: pathlib.Path, system_bytes: int = 1 << 26) -> None:
        try:
            ctypes.CDLL("libpthread.so.0", mode=ctypes.RTLD_GLOBAL)
            ctypes.CDLL(str(host), mode=ctypes.RTLD_GLOBAL)
            self.library = library = ctypes.CDLL(str(model), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise LayoutError(f"the vendor's chip model does not load: {error}") from error
        if status := library.cmodel_init(0, ctypes.c_ulonglong(system_bytes)):
            raise LayoutError(f"the vendor's chip model does not start: cmodel_init returns {status}")
        self.api = "okk" if hasattr(library, "okk_initialize") else "tpu"
        if self.api == "tpu":
            library.load_lookup_tables()
        start = self.function("global_mem_start_addr" if self.api == "okk" else "global_mem_get_start_addr")
        start.restype = ctypes.c_ulonglong
        for name, arguments in (("global_mem_addr", [ctypes.c_ulonglong]),
                                ("local_mem_addr", [ctypes.c_uint, ctypes.c_uint]),
                                ("get_kernel_func_by_name", [ctypes.c_char_p, ctypes.c_void_p])):
            self.function(name).restype = ctypes.c_void_p
            self.function(name).argtypes = arguments
        self.npus: int = self.function("npu_num")()
        self.bytes_per_npu: int = self.function("local_mem_size_per_npu")()
        self.eu_bytes: int = 4 * self.function("eu_num")(F32)
        self.start: int = start()

    def function(self, name: str) -> Any:
        """Returns a function of the kernel API, whose prefix `name` lacks."""
        return getattr(self.library, f"{self.api}_{name}")

    def system(self, address: int, size: int) -> NDArray[np.uint8]:
        """Returns a view of system memory."""
        return self._view(self.function("global_mem_addr")(address), size)

    def local(self, core: int) -> NDArray[np.uint8]:
        """Returns a view of the memory of a core."""
        return self._view(self.function("local_mem_addr")(core, 0), self.bytes_per_npu)

    def _view(self, place: int, size: int) -> NDArray[np.uint8]:
        return np.ctypeslib.as_array(ctypes.cast(place, ctypes.POINTER(ctypes.c_uint8)), (size,))

    def profile(self, folder: pathlib.Path) -> None:
        """Makes the model write the commands that it runs to a file in `folder`."""
        prefix = "bm" if self.api == "okk" else "sg"
        getattr(self.library, f"{prefix}_set_profile_path")(str(folder).encode())
        getattr(self.library, f"{prefix}_set_profile_dump")(ctypes.c_bool(True))

    def run_kernel(self, name: str, addresses: Sequence[int]) -> None:
        """Runs a registered kernel with these parameters."""
        kind = ctypes.c_int()  # TPU-KERNEL stores the kind of the kernel
        place = self.function("get_kernel_func_by_name")(name.encode(), ctypes.addressof(kind))
        if not place:
            raise LayoutError(f"{name} is not registered as a kernel")
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(place)((ctypes.c_ulonglong * len(addresses))(*addresses))


def _run_in_child(model: pathlib.Path, host: pathlib.Path, folder: pathlib.Path, kernel: str,
                  buffers: Sequence[Buffer], scalars: Sequence[int]) -> list[NDArray[Any]]:
    """Runs program.so of the folder and writes the profile there."""
    sizes = [-(-max(each.bytes, 1) // PAGE) * PAGE for each in buffers]
    chip = ChipModel(model, host, sum(sizes) + PAGE)
    chip.profile(folder)
    ctypes.CDLL(str(folder / "program.so"))
    addresses, at, results = [], chip.start, []
    for buffer, size in zip(buffers, sizes):
        place = chip.system(at, size)
        # Bytes of results that the program does not write are NaN or -1.
        place[:] = 0xff
        if buffer.data is not None:
            place[:buffer.bytes] = np.ascontiguousarray(buffer.data).reshape(-1).view(np.uint8)
        if buffer.result is not None:
            results.append((place[:buffer.result.nbytes], buffer.result))
        addresses.append(at)
        at += size
    chip.run_kernel(kernel, [*addresses, *scalars])
    # The process ends without closing the file of the profile.
    ctypes.CDLL(None).fflush(None)
    for place, result in results:
        result.reshape(-1).view(np.uint8)[:] = place
    return [result for _, result in results]


def describe(crash: Crashed) -> str:
    """Returns the text of the model's assertion with the function of the kernel API that it refuses."""
    found = ASSERTION.search(crash.output)
    if not found:
        return str(crash)
    called = re.search(r"\(((?:okk|tpu)_\w+)\+", crash.output)
    place, condition, values = found.groups()
    return (f"{called.group(1) if called else place} requires {condition}" +
            (f", and {values}" if values not in ("none.", "") else ""))


def read_profile(folder: pathlib.Path) -> tuple[dict[str, int], list[Event]]:
    """Returns the counters and the commands of the model, in the names of the simulator."""
    counters: Counter[str] = Counter({name: 0 for name in (
        "transfers", "computes", *DIRECTIONS, "cycles", "dma_cycles", "compute_cycles")})
    events = []
    for path in sorted(folder.glob("compiler_profile_*.dat")):
        text = path.read_text()
        counters["cycles"] += sum(map(int, re.findall(r"^TCYC *: *(\d+)", text, re.MULTILINE)))
        for name, begin, end, cycles, direction, size in COMMAND.findall(text):
            engine = "dma" if direction else "compute"
            counters["transfers" if direction else "computes"] += 1
            counters[f"{engine}_cycles"] += int(cycles)
            if direction:
                counters[DIRECTIONS[int(direction)]] += int(size)
            events.append(Event(engine, int(begin), int(end) + 1, name))  # the end is the last cycle
    return dict(counters), events


def match_commands(simulated: Sequence[Event], vendor: Sequence[Event]) -> list[tuple[int, int, str]]:
    """Returns the cycles of each command that the simulator ran, those of the model for it, and its name. `simulated`
    and `vendor` are all commands of one program. Returns an empty list if they do not correspond, e.g. because the model
    splits one. If a function may have several numbers of commands, it has the one with the closest cycles."""
    matched = []
    for engine in ("dma", "compute"):
        theirs = [event.end - event.begin for event in vendor if event.engine == engine]
        at = 0
        for event in (event for event in simulated if event.engine == engine):
            cycles = event.end - event.begin
            count = min(COMMANDS_OF.get(event.name, (1,)), key=lambda n: abs(sum(theirs[at:at + n]) - cycles))
            matched.append((cycles, sum(theirs[at:at + count]), event.name))
            at += count
        if at != len(theirs):
            return []
    return matched


def run_program(model: pathlib.Path, program: bytes, cxx: str | None, kernel: str, buffers: Sequence[Buffer],
                scalars: Sequence[int]) -> tuple[list[NDArray[Any]], dict[str, int], list[Event]]:
    """Runs a kernel of an object file in a process of its own, with the addresses of the buffers and the scalars as
    parameters. Returns the results, the counters and the commands. Raises ChipModelError if the model refuses one."""
    with tempfile.TemporaryDirectory(prefix="layout-npu-") as name:
        folder = pathlib.Path(name)
        link_program(program, cxx, folder / "program.so")
        try:
            outputs = isolated(_run_in_child, model, make_host(cxx, folder), folder, kernel, buffers, scalars,
                               seconds=SECONDS)
        except Crashed as error:
            raise ChipModelError(f"{kernel} does not run on the vendor's chip model: {describe(error)}") from error
        return outputs, *read_profile(folder)


def _describe_in_child(name: str, model: pathlib.Path, host: pathlib.Path) -> str:
    chip = ChipModel(model, host)
    return f"{name}: {chip.npus} cores, {chip.bytes_per_npu} bytes each, {chip.eu_bytes} bytes of execution units"


def main() -> int:
    try:
        models = find_models()
        if models is None:
            raise LayoutError(MISSING)
        with tempfile.TemporaryDirectory(prefix="layout-npu-") as folder:
            host = make_host(None, pathlib.Path(folder))
            for name, library in LIBRARIES.items():
                print(isolated(_describe_in_child, name, models / library, host))
    except (RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
