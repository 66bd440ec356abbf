"""Runs single commands of OKKernel in the simulator and on the vendor's chip model, from the same random memory.

    outcomes = compare_all(commands, simulator, chip, folder)     # one text per command, "" if both agree

The first WINDOW bytes of every core and a buffer in system memory are compared, so that a stray write is found. Bytes
that the simulator leaves undefined are not. The rest of the model's local memory must stay as it is. The cycles are
compared, too, in a simulator without banks, because the model counts no bank conflicts. Commands run in processes of
their own, because the vendor's model ends its process at a command that it refuses.
"""

import ctypes
import itertools
import json
import pathlib
from dataclasses import dataclass, field

import numpy as np

from layout_mlir.isolated import Crashed, isolated
from layout_mlir.npu import Dim4, load_simulator, open_chip
from layout_mlir.npu_chip_model import ChipModel, describe, find_model, make_host

WINDOW = 1 << 15
SYSTEM = 1 << 18
GUARD = 0xa5
CLOCK_ERROR = 0.02  # the largest relative difference of cycles
CYCLES_WORD = 3  # of the state of the model that okk_get_id_node returns


@dataclass
class Command:
    """Calls of OKKernel's functions on random memory.

    `local` has a row of bytes for each core. `results` are the tensors whose elements may differ by rounding:
    (address, shape, stride). `scratch` are byte ranges (offset, size) of every core that are not compared.
    `may_refuse` is true if the vendor does not define the result, so that the simulator may report an error.
    """
    local: np.ndarray
    system: np.ndarray
    calls: list = field(default_factory=list)
    results: list = field(default_factory=list)
    scratch: list = field(default_factory=list)
    each: float = 0.0     # the largest difference relative to the element
    largest: float = 0.0  # the largest difference relative to the largest result
    may_refuse: bool = False


class SystemAddress(int):
    """An offset in the buffer of system memory."""


def convert(value, base):
    """Returns an argument for ctypes."""
    if isinstance(value, SystemAddress):
        return ctypes.c_ulonglong(base + value)
    if isinstance(value, float):
        return ctypes.c_float(value)
    if isinstance(value, (tuple, list)):
        return ctypes.byref((ctypes.c_int * len(value))(*value))
    if isinstance(value, int) and not isinstance(value, bool):
        return ctypes.c_uint(value & 0xffffffff)
    return ctypes.byref(value) if isinstance(value, ctypes.Structure) else value


def call(library, command, base):
    for name, *arguments in command.calls:
        getattr(library, f"okk_{name}")(*(convert(value, base) for value in arguments))


class Simulator:
    def __init__(self, library, chip):
        self.library, self.chip = load_simulator(library), chip
        open_chip(self.library, {**chip, "banks": 0})
        self.library.okk_initialize()
        self.errors = 0
        self.buffer = self.library.okk_sim_alloc(SYSTEM)
        self.copies = {}

    def get_errors(self):
        """Returns the errors since the last call."""
        count = self.library.okk_sim_num_errors()
        new = [self.library.okk_sim_error(i).decode() for i in range(self.errors, count)]
        self.errors = count
        return new

    def transfer(self, local):
        """Returns a buffer in system memory of the size of `local`, and the shape and strides of a tensor of 32-bit
        elements that covers it, for copies from and to local memory."""
        if local.nbytes not in self.copies:
            self.copies[local.nbytes] = self.library.okk_sim_alloc(local.nbytes)
        cores, size = local.shape
        rows = size // 4096
        return (ctypes.c_ulonglong(self.copies[local.nbytes]), ctypes.byref(Dim4(1, cores, rows, 1024)),
                ctypes.byref(Dim4(0, rows * 1024, 1024, 1)))

    def run(self, command):
        """Returns the local and system memory after the command, a mask of the undefined bytes of local memory, its
        cycles, and the errors."""
        library = self.library
        copy, shape, stride = self.transfer(command.local)
        library.okk_sim_write(copy, command.local.ctypes.data, command.local.nbytes)
        library.okk_gdma_32bit_cpy_S2L(ctypes.c_uint(0), copy, shape, stride, None)
        library.okk_sim_write(self.buffer, command.system.ctypes.data, command.system.nbytes)
        before = self.get_errors()
        assert not before, before[0]
        begin = library.okk_sim_count().cycles
        call(library, command, self.buffer)
        cycles, errors = library.okk_sim_count().cycles - begin, self.get_errors()
        local, system = np.empty_like(command.local), np.empty_like(command.system)
        library.okk_gdma_32bit_cpy_L2S(copy, ctypes.c_uint(0), shape, None, stride)
        library.okk_sim_read(copy, local.ctypes.data, local.nbytes)
        library.okk_sim_read(self.buffer, system.ctypes.data, system.nbytes)
        undefined = np.zeros_like(local, bool)
        if self.get_errors():  # some byte is undefined
            self.read_defined(copy, local, undefined)
        return local, system, undefined, cycles, errors

    def read_defined(self, copy, local, undefined, chunk=1024):
        """Reads local memory in chunks, and by the byte if a chunk has undefined bytes."""
        shape = ctypes.byref(Dim4(1, 1, 1, chunk // 4))
        for core, first in itertools.product(range(local.shape[0]), range(0, local.shape[1], chunk)):
            address = ctypes.c_uint(core * self.chip["bytes_per_npu"] + first)
            self.library.okk_gdma_32bit_cpy_L2S(copy, address, shape, None, None)
            self.library.okk_sim_read(copy, local[core, first:].ctypes.data, chunk)
            if self.get_errors():
                values = np.array([self.library.okk_sim_local_byte(core, first + i) for i in range(chunk)])
                undefined[core, first:first + chunk] = values < 0
                local[core, first:first + chunk] = np.maximum(values, 0)


class Vendor:
    def __init__(self, model, host):
        self.model = ChipModel(model, host)
        shape = self.model.npus, self.model.bytes_per_npu
        starts = [self.model.local(core).ctypes.data for core in range(shape[0])]
        assert (np.diff(starts) == shape[1]).all()
        self.local = np.ctypeslib.as_array(ctypes.cast(starts[0], ctypes.POINTER(ctypes.c_uint8)), shape)
        self.local[:] = GUARD
        self.touched = 0

    def count_cycles(self):
        state = (ctypes.c_uint * 64)()
        self.model.library.okk_get_id_node(ctypes.byref(state))
        return state[CYCLES_WORD]

    def run(self, command):
        """Returns views of the local and system memory after the command, and its cycles."""
        size = command.local.shape[1]
        self.touched = max(self.touched, size)
        self.local[:, :size] = command.local
        system = self.model.system(self.model.start, command.system.nbytes)
        system[:] = command.system
        self.model.library.okk_initialize()
        begin = self.count_cycles()
        call(self.model.library, command, self.model.start)
        cycles = self.count_cycles() - begin
        self.model.library.okk_poll()
        return self.local[:, :size], system, cycles


def mark(mask, address, shape, stride, element, bytes_per_npu):
    """Sets the bytes of a tensor in the mask, which has a row for each core."""
    core, byte = divmod(address, bytes_per_npu)
    cores = len(mask)
    n, c, h, w = np.indices(shape)
    at = byte + element * (n * stride[0] + (core + c) // cores * stride[1] + h * stride[2] + w * stride[3])
    for k in range(element):
        mask[(core + c) % cores, at + k] = True


def find_rounded(command, x, y, bytes_per_npu):
    """Returns a mask of the words of local memory that differ by no more than the command allows."""
    mask = np.zeros((x.shape[0], 4 * x.shape[1]), bool)
    for address, shape, stride in command.results:
        mark(mask, address, shape, stride, 4, bytes_per_npu)
    results = in_words(mask)
    with np.errstate(all="ignore"):
        largest = np.abs(y[results & np.isfinite(y)]).max(initial=0)
        return results & (np.abs(x - y) <= np.maximum(command.each * np.abs(y), command.largest * largest))


def in_words(mask):
    """Returns true for each 32-bit word in which a byte is marked."""
    return mask.reshape(*mask.shape[:-1], -1, 4).any(-1)


def find_difference(command, simulated, vendor, undefined, bytes_per_npu):
    """Returns a description of the first word in which the memories differ without a permission, or ""."""
    for place, mine, its in zip(("local memory", "system memory"), simulated, vendor):
        different = mine != its
        if place == "local memory":
            different &= ~undefined
            for offset, size in command.scratch:
                different[:, offset:offset + size] = False
        if not different.any():
            continue
        words, its = in_words(different), np.ascontiguousarray(its)
        x, y = (each.view(np.float32).astype(np.float64) for each in (mine, its))
        if place == "local memory" and command.results:
            words &= ~find_rounded(command, x, y, bytes_per_npu)
        if words.any():
            at = tuple(int(i) for i in np.argwhere(words)[0])
            return (f"{words.sum()} words of {place} differ, at {list(at)} the simulator has {x[at]:.9g} "
                    f"({mine.view(np.uint32)[at]:#x}), the vendor {y[at]:.9g} ({its.view(np.uint32)[at]:#x})")
    return ""


def compare_cycles(command, simulated, vendor):
    """Returns a description of the cycles if they differ by more than rounding."""
    if abs(simulated - vendor) <= max(2 * len(command.calls), CLOCK_ERROR * vendor):
        return ""
    return f"{simulated} cycles in the simulator, {vendor} in the vendor's model"


def _run_in_child(commands, first, simulator, model, host, report):
    """Runs the commands from `first` on, and appends a line for each outcome, before and after the vendor's model."""
    vendor = Vendor(model, host)
    with open(report, "a", encoding="utf-8") as file:
        for make in commands[first:]:
            command = make()
            *memory, undefined, cycles, errors = simulator.run(command)
            print(json.dumps([errors, command.may_refuse]), file=file, flush=True)
            *after, vendor_cycles = vendor.run(command)
            if errors:
                said = "" if command.may_refuse else f"the simulator refuses: {errors[0]}"
            else:
                said = (find_difference(command, memory, after, undefined, simulator.chip["bytes_per_npu"])
                        or compare_cycles(command, cycles, vendor_cycles))
            print(json.dumps(said), file=file, flush=True)
    assert (vendor.local[:, vendor.touched:] == GUARD).all(), "a command wrote outside of its operands"


def compare_all(commands, simulator, chip, folder):
    """Runs each command, made by a function, on both machines. Returns a description of each disagreement, "" for
    none. Commands that both refuse agree."""
    model, host, outcomes = find_model(chip), make_host(None, folder), []
    report = pathlib.Path(folder, "outcomes")
    # The vendor's library comes later and does not replace functions that the simulator calls.
    simulator = Simulator(simulator, chip)
    while len(outcomes) < len(commands):
        report.write_text("")
        why = ""
        try:
            isolated(_run_in_child, commands, len(outcomes), simulator, model, host, report)
        except Crashed as error:
            why = describe(error)
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        outcomes += lines[1::2]
        if len(lines) % 2:
            errors, _ = lines[-1]
            outcomes.append("" if errors else f"the vendor's model refuses: {why}")
        elif why:
            raise RuntimeError(why)
    return outcomes


def get_layouts(library, core, shape):
    """Returns the strides and core counts that OKKernel's functions give a tensor."""
    found = {}
    for name in ("128_byte_aligned_stride_for_32bit", "128_byte_aligned_stride_for_16bit",
                 "128_byte_aligned_stride_for_8bit", "compact_stride"):
        stride = Dim4()
        getattr(library, f"okk_{name}")(ctypes.byref(stride), core, ctypes.byref(Dim4(*shape)))
        found[name] = [getattr(stride, each) for each in "nchw"]
    stride = Dim4()
    library.okk_continuous_stride(ctypes.byref(stride), ctypes.byref(Dim4(*shape)))
    found["continuous_stride"] = [getattr(stride, each) for each in "nchw"]
    found["channle_num_per_npu"] = library.okk_channle_num_per_npu(core, shape[1])
    found["start_npu_index"] = library.okk_start_npu_index(ctypes.c_uint(core * (1 << 19) + 4 * shape[3]))
    for name in ("npu_num", "eu_num", "local_mem_size_per_npu"):
        found[name] = getattr(library, f"okk_{name}")()
    return found


def _compare_layouts(simulator, model, host, tensors):
    vendor = ChipModel(model, host).library
    return [f"{name} of {shape} from core {core}: {value}, the vendor's {theirs[name]}" for core, shape in tensors
            for theirs in [get_layouts(vendor, core, shape)]
            for name, value in get_layouts(simulator.library, core, shape).items() if value != theirs[name]]


def compare_layouts(tensors, simulator, chip, folder):
    """Returns a description of each layout in which the machines disagree, of tensors (core, shape)."""
    return isolated(_compare_layouts, Simulator(simulator, chip), find_model(chip), make_host(None, folder), tensors)
