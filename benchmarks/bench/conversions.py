"""./dev bench --conversions: conversions compared with memcpy and with oneDNN's reorders.

Every conversion is compiled for this machine and runs alternately, in one process, with a memcpy of the same bytes and
with oneDNN's reorder between the same layouts. All read the same array and write to memory allocated for the call;
arrays of 4 MB or more are in huge pages. The results in the table are the time of the memcpy divided by that of the
conversion: 1 is the speed of memory, or of the cache that holds both sides. The memcpy copies the mean of the bytes
read and written. `lines` is the result of a loop that copies these bytes in order with whole vectors, the best that
code without the microcode of memcpy can reach. All results are compared with numpy's.

With `--by-hand`, transposed matrices (2-D, or one image) also run beside the fastest of about forty handwritten AVX-512
transposes (transpose_avx512.cpp), which shows the remaining potential.
"""

import argparse
import ctypes
import json
import math
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from layout_mlir.tools import ToolError, run_tool, whole_file

CASES = [
    *[(source, dest, shape)
      for source, dest in (("NCHW", "NHWC"), ("NHWC", "NCHW"))
      for shape in ((1, 16, 16, 16), (1, 64, 56, 56), (1, 3, 224, 224), (1, 512, 7, 7), (1, 61, 28, 28),
                    (1, 128, 32, 32), (8, 64, 56, 56), (32, 64, 56, 56), (1, 64, 512, 512))],
    *[("NCHW", "NCHW16c", shape)
      for shape in ((1, 16, 16, 16), (1, 64, 56, 56), (1, 3, 224, 224), (1, 61, 56, 56), (1, 512, 7, 7),
                    (8, 64, 56, 56), (32, 64, 112, 112))],
    *[("NCHW16c", "NCHW", shape)
      for shape in ((1, 16, 16, 16), (1, 64, 56, 56), (1, 61, 56, 56), (1, 512, 7, 7), (8, 64, 56, 56),
                    (32, 64, 112, 112))],
    *[("NCHW", "NCHW8c", shape) for shape in ((1, 64, 56, 56), (1, 3, 224, 224), (32, 64, 56, 56))],
    *[("NCHW8c", "NCHW", shape) for shape in ((1, 64, 56, 56), (1, 512, 7, 7))],
    *[("NHWC", "NCHW16c", shape) for shape in ((1, 64, 56, 56), (1, 61, 56, 56))],
    ("NCHW16c", "NHWC", (1, 64, 56, 56)),
    ("NCHW8c", "NCHW16c", (1, 64, 56, 56)),
    *[("OIHW", "OIHW16i16o", shape)
      for shape in ((64, 64, 3, 3), (512, 512, 3, 3), (256, 256, 1, 1), (2048, 512, 1, 1), (61, 61, 3, 3))],
    *[("OIHW", "OHWI", shape) for shape in ((64, 64, 3, 3), (512, 512, 3, 3), (64, 3, 7, 7))],
    *[("MN", "NM", shape)
      for shape in ((64, 64), (512, 512), (1024, 1024), (1000, 1000), (4096, 4096), (768, 3072), (3, 65536))],
    *[("KN", "NK16k16n", shape) for shape in ((512, 512), (1000, 1000), (768, 3072), (4096, 4096))],
]
NARROW = [
    *[("NCHW", "NHWC", shape)
      for shape in ((1, 64, 56, 56), (1, 3, 224, 224), (1, 512, 7, 7), (1, 61, 28, 28), (8, 64, 56, 56),
                    (32, 64, 112, 112))],
    *[("NHWC", "NCHW", shape) for shape in ((1, 64, 56, 56), (1, 3, 224, 224))],
    ("NCHW", "NCHW16c", (1, 64, 56, 56)),
    ("NCHW16c", "NCHW", (1, 64, 56, 56)),
    *[("OIHW", "OIHW16i16o", shape) for shape in ((512, 512, 3, 3), (2048, 512, 1, 1))],
    ("OIHW", "OHWI", (256, 256, 3, 3)),
    *[("MN", "NM", shape) for shape in ((512, 512), (1024, 1024), (4096, 4096))],
    ("KN", "NK16k16n", (1024, 1024)),
]
# numpy integers represent the bits of each type.
TYPES = {"f32": (np.uint32, CASES), "f16": (np.uint16, NARROW), "i8": (np.uint8, NARROW)}
DIMS = ("NCHW", "OIHW", "MN", "KN")
# Copies of more bytes exceed the caches.
LARGE = 32 << 20
TIMES = pathlib.Path(__file__).with_name("reorders.c")
TRANSPOSES = TIMES.with_name("transpose_avx512.cpp")
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
HUGE_PAGE, LEAST_IN_HUGE_PAGES = 1 << 21, 1 << 22


class Layout:
    """A layout given by its letters, e.g. NCHW16c with tiles of 16 channels."""

    def __init__(self, text):
        self.text, self.order, tiles, size = text, "", [], ""
        for letter in text:
            if letter.isdigit():
                size += letter
            elif size:
                tiles.append((letter.upper(), int(size)))
                size = ""
            else:
                self.order += letter
        self.tiles = dict(tiles)
        self.dims = next(dims for dims in DIMS if set(dims) == set(self.order))

    def encoding(self, is_zero):
        """Returns the encoding of the tensor type; padding is zero if `is_zero`, otherwise unspecified."""
        blocked = f'#layout.blocked<"{self.dims}" to "{self.text}">'
        if self.text == self.dims:
            return ""
        return f", #layout.padded<{blocked}, zero>" if is_zero else f", {blocked}"

    def tag(self):
        """Returns oneDNN's name of the layout, e.g. acdb for NHWC."""
        def rename(letter):
            return "abcd"[self.dims.index(letter)]
        outer = [rename(d).upper() if d in self.tiles else rename(d) for d in self.order]
        return "".join(outer + [f"{size}{rename(d)}" for d, size in self.tiles.items()])

    def pack(self, array):
        """Returns the storage of an array, with zeros as padding."""
        array = np.pad(array, [(0, -extent % self.tiles.get(d, 1))
                               for d, extent in zip(self.dims, array.shape)])
        shape = []
        for d, extent in zip(self.dims, array.shape):
            tile = self.tiles.get(d, 1)
            shape += [extent // tile, tile]
        order = [2 * self.dims.index(d) for d in self.order]
        order += [2 * self.dims.index(d) + 1 for d in self.dims if d not in self.tiles]
        order += [2 * self.dims.index(d) + 1 for d in self.tiles]
        # The extents of dims without a tile are 1 here, between the outer dims and the tiles.
        packed = array.reshape(shape).transpose(order)
        return np.ascontiguousarray(packed.reshape(
            [packed.shape[i] for i in range(len(self.dims))] + list(self.tiles.values())))


class Case:
    """One conversion, and the storage on both sides."""

    def __init__(self, number, dtype, source, dest, shape):
        self.name, self.dtype, self.shape = f"convert{number}", dtype, shape
        self.layouts = [Layout(source), Layout(dest)]

    def __str__(self):
        source, dest = self.layouts
        return f"{self.dtype} {source.text} -> {dest.text} {'x'.join(map(str, self.shape))}"

    def get_matrix(self):
        """Returns the rows and columns of the source matrix if the conversion transposes it, otherwise None."""
        source, dest = (layout.text for layout in self.layouts)
        if (source, dest) == ("MN", "NM"):
            return self.shape
        if {source, dest} != {"NCHW", "NHWC"} or self.shape[0] != 1:
            return None
        channels, pixels = self.shape[1], self.shape[2] * self.shape[3]
        return (channels, pixels) if source == "NCHW" else (pixels, channels)

    def make_storage(self):
        """Returns the storage of the source and of the expected result."""
        bits = TYPES[self.dtype][0]
        # Bit patterns that begin with two zero bits are not NaN in any type. bf16 patterns that begin with nine would
        # become zero in reorders of oneDNN that use f32.
        largest = 1 << 8 * np.dtype(bits).itemsize - 2
        data = np.random.default_rng(0).integers(largest >> 7, largest, self.shape).astype(bits)
        return [layout.pack(data) for layout in self.layouts]

    def write(self):
        """Returns the text of a function from one storage to the other."""
        def tensor(extents, encoding=""):
            return f"tensor<{'x'.join(map(str, extents))}x{self.dtype}{encoding}>"
        stored = [tensor(layout.pack(np.empty(self.shape, bool)).shape) for layout in self.layouts]
        inner = [tensor(self.shape, layout.encoding(is_zero))
                 for layout, is_zero in zip(self.layouts, (False, True))]
        return f"""func.func @{self.name}(%s: {stored[0]}) -> {stored[1]} {{
  %x = layout.storage_view %s : {stored[0]} to {inner[0]}
  %y = layout.convert %x : {inner[0]} to {inner[1]}
  %r = layout.storage_view %y : {inner[1]} to {stored[1]}
  return %r : {stored[1]}
}}
"""


class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_int), ("memory", ctypes.c_void_p)]


class Task(ctypes.Structure):
    """Mirrors `struct task` of reorders.c."""
    _fields_ = [("kernel", ctypes.c_void_p), ("primitive", ctypes.c_void_p), ("transpose", ctypes.c_void_p),
                ("arguments", Argument * 2), ("source", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("by_lines", ctypes.c_int), ("variant", ctypes.c_int), ("element_bytes", ctypes.c_int),
                ("rows", ctypes.c_size_t), ("columns", ctypes.c_size_t)]


def run(*command):
    try:
        subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolError(getattr(error, "stderr", None) or str(error)) from error


def compile_all(cases, options, threads, by_hand, folder):
    """Compiles the conversions and the timing loops, and loads them as two libraries."""
    source, lowered, ir = (folder / f"conversions.{end}" for end in ("mlir", "llvm.mlir", "ll"))
    source.write_text("".join(case.write() for case in cases))
    run_tool("layout-opt", source, "--convert-layout-to-linalg",
             f"--layout-linalg-to-llvm={options} parallel-loops={str(threads > 1).lower()}", "-o", lowered)
    run("mlir-translate-22", "--mlir-to-llvmir", lowered, "-o", ir)
    libraries = folder / "conversions.so", folder / "times.so"
    build = ["clang-22", "-O3", "-march=native", "-fPIC", "-shared", "-Wno-override-module",
             *(["-fopenmp"] if threads > 1 else [])]
    run(*build, ir, "-o", libraries[0])
    objects = []
    if by_hand:
        objects.append(folder / "transpose_avx512.o")
        run("clang-22", "-O3", "-march=native", "-fPIC", "-std=c++17", "-c", TRANSPOSES, "-o", objects[0])
    run(*build, f"-DTHREADS={threads}", TIMES, *objects, "-ldnnl", "-o", libraries[1])
    return [ctypes.CDLL(str(library)) for library in libraries]


def aligned(extents, bits):
    """Returns an array at the start of a cache line, in huge pages if it is large. All of it is written, because
    untouched pages would all map to the same zero page."""
    size = math.prod(extents) * np.dtype(bits).itemsize
    alignment = 64
    if size < LEAST_IN_HUGE_PAGES:
        array = np.empty(size + alignment, np.uint8)
    else:
        alignment = HUGE_PAGE
        memory = mmap.mmap(-1, size + alignment)
        memory.madvise(mmap.MADV_HUGEPAGE)
        array = np.frombuffer(memory, np.uint8)
    start = -array.ctypes.data % alignment
    array = array[start:start + size]
    array[...] = 1
    return array.view(bits).reshape(extents)


def make_heap(size):
    """Places huge pages at the top of the heap, so that the next allocation of `size` bytes uses them."""
    if size < LEAST_IN_HUGE_PAGES:
        return
    libc = ctypes.CDLL(None)
    libc.aligned_alloc.restype = ctypes.c_void_p
    size = ctypes.c_size_t((size // HUGE_PAGE + 2) * HUGE_PAGE)
    memory = ctypes.c_void_p(libc.aligned_alloc(ctypes.c_size_t(HUGE_PAGE), size))
    libc.madvise(memory, size, mmap.MADV_HUGEPAGE)
    libc.memset(memory, 1, size)
    libc.free(memory)


def make_descriptor(array):
    strides = [stride // array.itemsize for stride in array.strides]
    words = [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]
    return (ctypes.c_int64 * len(words))(*words)


def read_result(kernel, source, expected):
    """Returns true if the conversion of the source is `expected`."""
    result = (ctypes.c_int64 * (3 + 2 * expected.ndim))()
    kernel(result, source)
    memory = ctypes.cast(result[1], ctypes.POINTER(ctypes.c_uint8 * expected.nbytes)).contents
    return np.array_equal(np.frombuffer(memory, expected.dtype).reshape(expected.shape), expected)


def time_alternately(times, tasks, seconds):
    least = (ctypes.c_double * len(tasks))()
    times.time_alternately((Task * len(tasks))(*tasks), len(tasks), ctypes.c_double(2e-5), ctypes.c_double(seconds), least)
    return list(least)


def find_transpose(case, times, given, result, expected, seconds):
    """Returns the fastest handwritten transpose for the case, or None if there is none."""
    matrix = case.get_matrix()
    if not matrix:
        return None
    rows, columns = matrix
    fastest, least = None, math.inf
    for variant in range(times.count_transposes()):
        result[...] = 0
        if not times.transpose_by_hand(variant, given.itemsize, ctypes.c_void_p(result.ctypes.data),
                                  ctypes.c_void_p(given.ctypes.data), ctypes.c_size_t(rows), ctypes.c_size_t(columns)):
            continue
        if not np.array_equal(result, expected):
            raise ToolError(f"variant {variant} by hand is not what numpy has")
        task = Task(transpose=ctypes.cast(times.transpose_by_hand, ctypes.c_void_p), source=given.ctypes.data,
                    bytes=expected.nbytes, variant=variant, element_bytes=given.itemsize, rows=rows, columns=columns)
        taken, = time_alternately(times, [task], seconds / 20)
        if taken < least:
            fastest, least = task, taken
    return fastest


def measure(case, conversions, times, seconds, by_hand):
    """Returns the row of one case."""
    source, expected = case.make_storage()
    size = (source.nbytes + expected.nbytes) // 2
    memory, result = aligned((max(size, source.nbytes),), np.uint8), aligned(expected.shape, source.dtype)
    given = memory[:source.nbytes].view(source.dtype).reshape(source.shape)
    given[...] = source
    descriptor = make_descriptor(given)
    kernel = getattr(conversions, f"_mlir_ciface_{case.name}")
    if not read_result(kernel, descriptor, expected):
        raise ToolError("the result is not that of numpy")
    tasks = [
        Task(source=given.ctypes.data, bytes=size),
        Task(kernel=ctypes.cast(kernel, ctypes.c_void_p), source=ctypes.addressof(descriptor)),
        Task(source=given.ctypes.data, bytes=expected.nbytes),
        Task(source=given.ctypes.data, bytes=size, by_lines=1)]
    shape = (ctypes.c_int64 * len(case.shape))(*case.shape)
    tags = [layout.tag().encode() for layout in case.layouts]
    if times.make_reorder(ctypes.byref(tasks[2]), len(shape), shape, source.itemsize, *tags):
        raise ToolError("oneDNN has no such reorder")
    times.run_once(ctypes.byref(tasks[2]), ctypes.c_void_p(result.ctypes.data))
    if not np.array_equal(result, expected):
        raise ToolError("the result of oneDNN is not that of numpy")
    make_heap(max(size, expected.nbytes))
    by_hand_task = find_transpose(case, times, given, result, expected, seconds) if by_hand else None
    copy, own, peer, lines, *transposed = time_alternately(times, tasks + ([by_hand_task] if by_hand_task else []), seconds)
    row = {"case": str(case), "bytes": size, "copy_seconds": copy, "seconds": own, "onednn_seconds": peer,
           "lines_seconds": lines, "of_copy": copy / own, "lines_of_copy": copy / lines,
           "onednn_of_copy": copy / peer, "of_onednn": peer / own}
    return row | {"by_hand_of_copy": copy / seconds for seconds in transposed}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_summary(rows):
    print(f"\n{'':<20}{'cases':>6}{'mean':>8}{'floor':>8}{'lines':>8}{'oneDNN':>8}{'ratio':>8}{'least ratio':>13}")
    groups = [(dtype, [row for row in rows if row["case"].startswith(f"{dtype} ")]) for dtype in TYPES]
    groups.append(("beyond the caches", [row for row in rows if row["bytes"] > LARGE]))
    for name, group in groups:
        if group:
            own = [row["of_copy"] for row in group]
            ratios = [row["of_onednn"] for row in group]
            print(f"{name:<20}{len(group):>6}{mean(own):>8.2f}{min(own):>8.2f}"
                  f"{mean([row['lines_of_copy'] for row in group]):>8.2f}"
                  f"{mean([row['onednn_of_copy'] for row in group]):>8.2f}{mean(ratios):>8.2f}{min(ratios):>13.2f}")
    for dtype in TYPES:
        transposed = [row for row in rows if row["case"].startswith(f"{dtype} ") and "by_hand_of_copy" in row]
        if transposed:
            own, by_hand = (mean([row[key] for row in transposed]) for key in ("of_copy", "by_hand_of_copy"))
            print(f"{dtype} transposed by hand: {len(transposed)} cases, mean {by_hand:.2f}, here {own:.2f}")
    for title, key in (("memcpy", "of_copy"), ("oneDNN", "of_onednn")):
        print(f"\nThe furthest behind {title}:")
        for row in sorted(rows, key=lambda row: row[key])[:5]:
            print(f"{row[key]:8.2f}  {row['case']}")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --conversions", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only cases whose line contains this")
    parser.add_argument("--options", default="cpu=host", help="options of layout-linalg-to-llvm")
    parser.add_argument("--threads", type=int, default=1, help="threads of all three")
    parser.add_argument("--by-hand", action="store_true",
                        help="beside matrices transposed by hand, on one thread with AVX-512")
    parser.add_argument("--seconds", type=float, default=0.3, help="how long each case runs")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    if args.by_hand and (args.threads > 1 or "avx512bw" not in pathlib.Path("/proc/cpuinfo").read_text()):
        parser.error("--by-hand is for one thread and needs AVX-512")
    cases = [Case(number, dtype, *case) for dtype, (_, listed) in TYPES.items()
             for number, case in enumerate(listed, 100 * list(TYPES).index(dtype))]
    cases = [case for case in cases if args.only in str(case)]
    if not cases:
        parser.error(f"no case matches '{args.only}'")
    # OpenMP and oneDNN read the variable when they are loaded.
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    # Freed memory is reused, as in a network that runs repeatedly.
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)
    rows, failed = [], False
    with tempfile.TemporaryDirectory(prefix="layout-bench-") as folder:
        try:
            conversions, times = compile_all(cases, args.options, args.threads, args.by_hand, pathlib.Path(folder))
        except ToolError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{'conversion':<44}{'MB':>8}{'memcpy us':>11}{'us':>10}{'of memcpy':>11}{'lines':>8}{'oneDNN':>8}"
              f"{'ratio':>8}{'by hand' if args.by_hand else '':>9}".rstrip())
        for case in cases:
            try:
                row = measure(case, conversions, times, args.seconds, args.by_hand)
            except ToolError as error:
                print(f"{case}: {error}", file=sys.stderr)
                failed = True
                continue
            rows.append(row)
            print(f"{row['case']:<44}{row['bytes'] / 1e6:>8.2f}{row['copy_seconds'] * 1e6:>11.2f}"
                  f"{row['seconds'] * 1e6:>10.2f}{row['of_copy']:>11.2f}{row['lines_of_copy']:>8.2f}{row['onednn_of_copy']:>8.2f}"
                  f"{row['of_onednn']:>8.2f}"
                  + (f"{row['by_hand_of_copy']:>9.2f}" if "by_hand_of_copy" in row else ""), flush=True)
    if rows:
        print_summary(rows)
    if args.json:
        with whole_file(args.json) as file:
            file.write(json.dumps({"threads": args.threads, "options": args.options, "rows": rows}, indent=1) + "\n")
    return 1 if failed else 0
