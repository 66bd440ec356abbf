# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines: compile programs for a device, run them, and compare them with numpy.

Programs pass through the tools in batches, which saves processes. A batch that breaks a tool is split until the program
is found.
"""

import multiprocessing
import re
import shlex
import signal
import subprocess
from typing import NamedTuple

import numpy as np

from layout_mlir import LayoutError, Target, npu
from layout_mlir.npu_chip_model import find_model, why_not
from layout_mlir.tools import find_tool

from generate import Profile
from layouts import random_device_layout, random_layout
from values import from_file

SECONDS = 40  # limit of a tool's processor time, extended by as much per ten programs of a batch
SLOWDOWN = 15  # elapsed time by processor time, above which a tool is taken to wait forever
SEPARATOR = "// -----"


class Case(NamedTuple):
    """The text of a program, and its compilation target."""
    seed: int
    text: object
    target: str
    flags: str = ""


class Outcome(NamedTuple):
    """kind: right, refused, error, crash, timeout or differs; `side` is the way of compiling."""
    kind: str
    side: str = ""
    message: str = ""

    @property
    def is_failure(self):
        return self.kind not in ("right", "refused")

    @property
    def signature(self):
        """Returns a key that is equal for failures with presumably the same cause."""
        return self.kind, self.side, re.sub(r"%\w+|@\w+|#\w+|<.*?>|\d+|'tensor.*?'", "_", self.message)[:120]


def run_tool(command, seconds, stdout=None, **more):
    """Returns the exit status (negative for a signal, None after a timeout) and standard error.

    The limit is in seconds of processor time, so that other work on the machine does not shorten it.
    """
    command = ["prlimit", f"--cpu={seconds}", *command]
    with subprocess.Popen(list(map(str, command)), stdout=stdout or subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", **more) as process:
        try:
            said = process.communicate(timeout=seconds * SLOWDOWN)[1]
            return None if process.returncode == -signal.SIGXCPU else process.returncode, said
        except subprocess.TimeoutExpired:
            process.kill()
            return None, process.communicate()[1]


def is_broken(status):
    """Returns true for a crash or a timeout; errors of tools have status 1."""
    return status is None or status < 0 or status > 2


def describe(status, said):
    if status is None:
        return "timeout", f"no end after the time limit: {said[-300:]}"
    frames = re.findall(r"#\d+ 0x\w+ (mlir::layout\S+|mlir::npu\S+|mlir::\S+)", said)
    sanitizer = re.search(r"(ERROR: AddressSanitizer: .*|runtime error: .*)", said)
    name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    return "crash", f"{name}: {sanitizer.group(0) if sanitizer else ' < '.join(frames[:4]) or said[-300:]}"


def first_error(said):
    found = re.search(r"^\S+:\d+:\d+: error: (.*)$", said, re.MULTILINE)
    return found.group(1) if found else None


def module_of(case):
    attributes = f" attributes {{layout.target = {case.target}}}" if case.target else ""
    return f"module @p{case.seed}{attributes} {{\n{case.text.body}}}\n"


def lower(cases, pipeline, folder, side, known):
    """Returns lowered modules by seed, and the outcomes of the others."""
    source, lowered = folder / f"{side}.mlir", folder / f"{side}.lowered.mlir"
    source.write_text(f"{SEPARATOR}\n".join(map(module_of, cases)))
    command = [find_tool("layout-opt"), source, *pipeline, "--split-input-file",
               "--mlir-disable-threading", "--mlir-print-op-on-diagnostic=false"]
    with lowered.open("w") as file:
        status, said = run_tool(command, SECONDS * (1 + len(cases) // 10), file)
    if is_broken(status) and len(cases) > 1:
        modules, outcomes = {}, {}
        for half in (cases[:len(cases) // 2], cases[len(cases) // 2:]):
            more = lower(half, pipeline, folder, side, known)
            modules.update(more[0]), outcomes.update(more[1])
        return modules, outcomes
    if is_broken(status):
        kind, message = describe(status, said)
        return {}, {cases[0].seed: Outcome(kind, side, message)}
    chunks = lowered.read_text().split(SEPARATOR)
    modules, outcomes = {}, {}
    for case, chunk in zip(cases, chunks, strict=True):
        if chunk.strip():
            modules[case.seed] = chunk
        elif len(cases) > 1:  # alone, for its own error message
            more = lower([case], pipeline, folder, side, known)
            modules.update(more[0]), outcomes.update(more[1])
        else:
            error = first_error(said)
            kind = "refused" if error and any(re.search(k, error) for k in known) else "error"
            outcomes[case.seed] = Outcome(kind, side, error or f"no located error: {said[-500:]}")
    return modules, outcomes


def run_modules(cases, modules, folder, side, options=()):
    """Returns results by seed, and outcomes of programs without results."""
    waiting, results, outcomes = [], {}, {}
    for case in cases:
        if case.seed not in modules:
            continue
        names = [folder / f"{side}.{case.seed}.mlir"]
        names[0].write_text(modules[case.seed])
        for k, data in enumerate(case.text.inputs):
            names.append(folder / f"{case.seed}.in{k}.npy")
            if not names[-1].exists():
                np.save(names[-1], data)
        outs = [folder / f"{side}.{case.seed}.out{k}.npy" for k in range(len(case.text.wanted))]
        waiting.append((case, outs, f"{' '.join(map(str, names))} -> {' '.join(map(str, outs))}"))
    listed = folder / f"{side}.list"
    while waiting:
        listed.write_text("\n".join(line for *_, line in waiting) + "\n")
        status, said = run_tool([find_tool("layout-run"), f"--programs={listed}", *options],
                                SECONDS * (1 + len(waiting) // 10))
        broken = None
        for at, (case, outs, _) in enumerate(waiting):
            if all(path.exists() for path in outs):
                results[case.seed] = [np.load(path) for path in outs]
            elif is_broken(status) and broken is None and f"{listed}:{at + 1}: this" not in said:
                broken = at
                kind, message = describe(status, said)
                outcomes[case.seed] = Outcome(kind, side, message)
            elif broken is None:
                error = re.search(r"error: (.*)", said)
                outcomes[case.seed] = Outcome("error", side, f"layout-run: {error.group(1) if error else said[-300:]}")
        waiting = waiting[broken + 1:] if broken is not None else []
    return results, outcomes


def find_difference(wanted, outputs):
    """Returns a description of wrong results, or None."""
    for number, (found, value) in enumerate(zip(outputs, wanted, strict=True)):
        found = from_file(found, value.element)
        if found.shape != value.data.shape:
            return f"result {number} is {found.shape}, not {value.data.shape}"
        if found.dtype != value.data.dtype:
            return f"result {number} is of {found.dtype}, not {value.data.dtype}"
        if not value.bound:
            same = (found == value.data) | (found != found) & (value.data != value.data)
        else:
            wide = np.complex128 if np.iscomplexobj(value.data) else np.float64
            expected = value.data.astype(wide)
            scale = max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0))
            same = np.isclose(found.astype(wide), expected, rtol=0, equal_nan=True,
                              atol=value.bound * scale)
        if not same.all():
            at = tuple(int(i) for i in np.argwhere(~np.atleast_1d(same))[0]) if found.ndim else ()
            return (f"result {number}: {np.count_nonzero(~same)} of {same.size} differ, at {list(at)} "
                    f"{found[at]} instead of {value.data[at]}")
    return None


# Errors for layouts of dynamic sizes without a proof of L1 or L2.
UNPROVEN = ("cannot be proven injective on this shape within the bound",
            r"not proven to hold all elements \(L2\); make the dynamic sizes static")


class Cpu:
    """The CPU pipeline, without and with layouts."""
    name, batch = "cpu", 25
    # Expected errors for valid programs: an op only supports the layouts that its types state.
    known = ("convert its tensors to other layouts, or to plain tensors, by layout.convert",
             "cannot run on the layouts of its operands: .* convert them with layout.convert",
             *UNPROVEN)
    profile = Profile()
    layouts = staticmethod(random_layout)

    def target(self, rng):
        line = rng.choice([1, 1, 16, 64])
        return (f'#layout.cpu<lanes = {rng.choice([2, 3, 4, 4, 5, 8, 8, 16])}, '
                f"line_bytes = {line}, strided_percent = {rng.choice([100, 100, 200, 1000])}, "
                f"flops_per_byte = {rng.choice([1, 1, 8])}, "
                f"scalar_percent = {rng.choice([10000, 10000, 400])}, "
                f"mask_percent = {rng.choice([100, 150, 1000])}, "
                f"assumed_size = {rng.choice([1, 8, 64])}, assumed_trips = {rng.choice([1, 8])}>")

    def flags(self, rng):
        """Returns the flags of a whole batch."""
        flags = [f"target={{#layout.cpu<lanes = 16, line_bytes = {rng.choice([64, 64, 64, 1, 48, 128])}, "
                 f"vector_bits = {rng.choice([256, 256, 256, 128, 512, 0])}, "
                 f"vector_registers = {rng.choice([16, 16, 32, 4])}, "
                 f"datapath_bits = {rng.choice([0, 0, 128, 256])}, "
                 f"two_source_permute_bytes = {rng.choice([0, 0, 1, 4])}, "
                 f"l1_bytes = {rng.choice([32768, 32768, 1, 512])}, l2_bytes = {rng.choice([1048576, 1048576, 1, 4096])}, "
                 f"llc_bytes = {rng.choice([33554432, 33554432, 1])}, l1_set_stride = {rng.choice([4096, 1, 64])}, "
                 f"cores = {rng.choice([8, 1, 64])}>}}"]
        for name in ("contract-fma", "emit-kernels", "fuse", "plan-memory", "winograd"):
            if rng.random() < 0.15:
                flags.append(f"{name}=false")
        if rng.random() < 0.15:
            flags.append("math=libm")
        return " ".join(flags)

    def pipelines(self, flags):
        to_llvm = f"--layout-linalg-to-llvm={flags}"
        return {"untouched": ["--convert-layout-to-linalg", to_llvm],
                "laid-out": ["--layout-assign", "--convert-layout-to-linalg", to_llvm]}

    def run(self, cases, folder):
        outcomes = {}
        for side, pipeline in self.pipelines(cases[0].flags).items():
            modules, failed = lower(cases, pipeline, folder, side, self.known)
            results, broken = run_modules(cases, modules, folder, side, ["--opt-level=0"])
            for case in cases:
                said = failed.get(case.seed) or broken.get(case.seed)
                if said is None:
                    different = find_difference(case.text.wanted, results[case.seed])
                    said = Outcome("differs", side, different) if different else Outcome("right")
                before = outcomes.get(case.seed)
                if before and before.kind == "right" and said.kind == "refused":
                    said = said._replace(kind="error")  # the assignment must not refuse a program
                if not before or not before.is_failure and said.kind != "right":
                    outcomes[case.seed] = said
        return outcomes

    def commands(self, case, side):
        pipeline = " ".join(shlex.quote(p) for p in self.pipelines(case.flags)[side])
        return [f"layout-opt module.mlir {pipeline} -o lowered.mlir",
                "layout-run lowered.mlir --opt-level=0 " + files(case)]


def files(case):
    return " ".join([f"--input=in{k}.npy" for k in range(len(case.text.inputs))] +
                    [f"--output=out{k}.npy" for k in range(len(case.text.wanted))])


class OpenCL(Cpu):
    """The pipeline for a device with images."""
    name, batch = "opencl", 10
    known = ("no kernel supports this op; rewrite it with ops", "choose another image map, or a buffer",
             "has no known inverse, .* choose one that consists of digits",
             "images have no channel type for .* keep it in a buffer", *UNPROVEN)
    profile = Profile(elements=["f32"] * 8 + ["f16", "f16", "i32", "i32", "i8", "i8", "i64", "i16", "i1",
                                              "index", "f64"], operations=(1, 4), stored=0.4)
    layouts = staticmethod(random_device_layout)

    def target(self, rng):
        width = rng.choice([16, 64, 8192, 8192])
        return (f'#layout.opencl<image2d_max_width = {width}, '
                f"image2d_max_height = {rng.choice([16, 8192, 8192])}, "
                f"launch_cost = {rng.choice([1, 1, 256])}, "
                f"image_read_percent = {rng.choice([1, 10])}, item_pixels = {rng.choice([1, 3, 8])}, "
                f"fewest_items = {rng.choice([1, 9, 1024])}, split_reads = {rng.choice([0, 3, 128])}>")

    def flags(self, rng):
        return ""

    def pipelines(self, flags):
        return {"images": ["--layout-to-opencl"]}


class Vulkan(OpenCL):
    """The same for a device of Vulkan 1.1, whose kernels take images of two dimensions."""
    name = "vulkan"
    known = (*OpenCL.known, "is not lowered to Vulkan", "bytes of push constants",
             "an index of a kernel is not proven to fit into 32 bits")

    def target(self, rng):
        return super().target(rng)[:-1] + f", address_bits = {rng.choice([32, 64])}>"

    def pipelines(self, flags):
        return {"images": ["--layout-to-vulkan"]}


class Npu(Cpu):
    """The pipeline for a chip in the simulator, which reports every access that violates a rule."""
    name, batch = "npu", 10
    layouts = None
    vendor = False  # whether programs also run on the vendor's chip model
    profile = Profile(elements=["f32"] * 8 + ["f16", "f16", "i32", "i8", "i8"], dynamic=0, empty=0,
                      rank=5, operations=(1, 4), without=("stored", "loop", "parallel", "branch", "retype"))
    # Expected errors: the chip is too small, or its DMA engine does not support an address.
    known = ("does not fit local memory in any parts", "op does not fit: ",
             "has tensors for which no addresses were found: .* use fewer banks",
             "parts or more to fit local memory", "no transfers move a tensor from", "no transfers fill",
             "is not in local memory", "has no NPU command: lower it", "cores have no command",
             "use plain tensors with static sizes")

    def target(self, rng):
        eu = rng.choice([8, 16, 32, 64, 128])
        chip = (f"npus = {rng.choice([rng.randint(1, 9), rng.randint(1, 64)])}, bytes_per_npu = "
                f"{rng.choice([256, 1024, 2048, 4096, 16384])}, eu_bytes = {eu}")
        if rng.random() < 0.4:
            chip += f", dma_alignment = {rng.choice([4, 4, 4, 8, 16])}"
        if rng.random() < 0.4:
            most = rng.choice([5, 5, 40])
            chip += f", max_shape = {[rng.randint(2, most) for _ in range(4)]}"
        if rng.random() < 0.3:
            chip += f", max_stride = {rng.choice([8, 64, 256, 2048])}"
        if rng.random() < 0.3:
            chip += f", max_compute_stride = {rng.choice([8, 64, 256, 2048])}"
        if rng.random() < 0.6:
            chip += f", banks = {rng.choice([1, 2, 4, 8, 16])}"
        return (f'#layout.npu<chip = #npu.target<{chip}>, '
                f"launch_cost = {rng.choice([1, 256])}, flops_per_byte = 8>")

    def flags(self, rng):
        return f"reuse-holes={rng.choice(['false', 'true'])}"

    def pipelines(self, flags):
        return {"units": [f"--layout-to-npu={flags}"]}

    def run(self, cases, folder):
        (side, pipeline), = self.pipelines(cases[0].flags).items()
        modules, outcomes = lower(cases, pipeline, folder, side, self.known)
        for case in cases:
            if case.seed in modules:
                outcomes[case.seed] = apart(simulate, modules[case.seed], case, folder / str(case.seed), self.vendor)
        return outcomes

    def commands(self, case, side):
        pipeline, = self.pipelines(case.flags).values()
        machine = " --on vendor" if side == VENDOR else ""
        return [f"layout-opt module.mlir '{pipeline[0]}' -o lowered.mlir",
                f"python -m layout_mlir.npu lowered.mlir{machine}"]

    def why_no_vendor(self):
        """Returns the reason why programs cannot run on the vendor's chip model, or None."""
        return "the vendor's chip models are those of chips: use --device npu-BM1684"


VENDOR = "vendor"
# The vendor's model approximates exp and division within this bound, relative to the largest value of a result.
VENDOR_BOUND = 1e-5


def simulate(module, case, folder, vendor):
    try:
        program = npu.Program(module, folder=folder, simulator_kernels=True)
        result = program.run(*case.text.inputs, check=False)
    except (LayoutError, RuntimeError) as error:
        return Outcome("error", "units", str(error)[:600])
    if result.errors:
        return Outcome("error", "units", f"the simulator reports {result.errors[0]}")
    different = compare_results(case.text.wanted, result.outputs)
    if different:
        return Outcome("differs", "units", different)
    return run_on_vendor(program, case) if vendor and program.has_chip_model() else Outcome("right")


def run_on_vendor(program, case):
    try:
        result = program.run(*case.text.inputs, on="vendor")
    except LayoutError as error:
        return Outcome("error", VENDOR, str(error)[:600])
    wanted = [value._replace(bound=max(value.bound, VENDOR_BOUND)) if value.data.dtype.kind == "f" else value
              for value in case.text.wanted]
    different = compare_results(wanted, result.outputs)
    return Outcome("differs" if different else "right", VENDOR, different or "")


def compare_results(wanted, outputs):
    """Returns a description of wrong results of an NPU, or None."""
    # If the expected value is NaN, extremes may return the other operand (docs/npu.md), and
    # layout-prepare-decompose-transposed-conv omits zeros that infinite weights would multiply.
    for found, value in zip(outputs, wanted, strict=True):
        if value.data.dtype.kind == "f" and found.shape == value.data.shape:
            np.copyto(found, value.data, where=np.isnan(value.data), casting="same_kind")
    return find_difference(wanted, outputs)


def apart(function, *arguments):
    """Runs the function in a separate process, which may crash, and returns its result."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=lambda: there.send(function(*arguments)))
    process.start()
    there.close()
    outcome = None
    if here.poll(SECONDS * 3):
        try:
            outcome = here.recv()
        except EOFError:
            pass
    else:
        process.kill()
        outcome = Outcome("timeout", "units", "the simulator did not end")
    process.join()
    return outcome or Outcome("crash", "units", f"the process of the simulator ended with {process.exitcode}")


def on_chip(chip):
    """Returns the pipeline for a published chip, with costs from its clock."""
    class Published(Npu):
        name = f"npu-{chip}"

        def target(self, rng):
            return f'#layout.npu<chip = #npu.target<"{chip}">>'

        def why_no_vendor(self):
            figures = {name: getattr(Target.named(chip), name) for name in ("npus", "bytes_per_npu", "eu_bytes")}
            return None if find_model(figures) else why_not(figures)
    return Published


BACKENDS = {"cpu": Cpu, "opencl": OpenCL, "vulkan": Vulkan, "npu": Npu,
         **{f"npu-{chip}": on_chip(chip) for chip in ("BM1684", "BM1684X", "BM1688")}}
