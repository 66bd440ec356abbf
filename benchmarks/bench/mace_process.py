"""Times a kernel of a package and MACE's kernel for the same operation, in one process.

`bench.mace` runs it with the Python that has pyopencl. Its arguments are the folder of MACE's OpenCL kernels, the
folder of the package, and the operation as JSON. Prints as JSON the milliseconds of both on the device, each with its
fastest work-group size, and the largest difference of both from NumPy, relative to the largest result.
"""

import json
import math
import pathlib
import statistics
import sys
import time

import numpy as np
import pyopencl as cl


# Work-group sizes to try: lines, blocks and columns, as auto-tuners do.
SHAPES = (64, 1, 1), (4, 4, 4), (16, 4, 1), (4, 16, 1), (1, 16, 4), (1, 64, 1), (2, 32, 1)


def up(x, y):
    return -(-x // y)


class Package:
    """The memory and the kernels of a package. Commands run in order."""

    def __init__(self, queue, folder):
        self.queue, self.context, self.folder = queue, queue.context, folder
        self.manifest = json.loads((folder / "manifest.json").read_text())
        self.memory = [self.make(each) for each in self.manifest["memory"]]
        self.sources = {}

    def make(self, memory):
        if memory["kind"] == "buffer":
            size = np.dtype({"f32": "f4", "i64": "i8", "i32": "i4"}[memory["element"]]).itemsize
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, max(1, memory["elements"]) * size)
        if memory["kind"] != "image2d" or memory["channel_type"] != "CL_FLOAT":
            raise SystemExit(f"no place for {memory['kind']} of {memory['channel_type']}")
        return image(self.context, memory["width"], memory["height"])

    def kernel(self, launch):
        """Returns a function that launches with a given work-group size and returns the event, the global size, and the
        package's work-group size."""
        described = next(each for each in self.manifest["kernels"]
                         if each["name"] == launch["kernel"] and each["file"] == launch["file"])
        if described["source"] not in self.sources:
            text = (self.folder / described["source"]).read_text()
            self.sources[described["source"]] = cl.Program(self.context, text).build()
        kernel = cl.Kernel(self.sources[described["source"]], described["source_name"])
        for i, (value, argument) in enumerate(zip(launch["arguments"], described["arguments"])):
            kernel.set_arg(i, self.memory[value["memory"]] if "memory" in value
                           else np.array(value["scalar"], argument["type"].replace("i", "int"))[()])
        grid = [groups * many for groups, many in zip(launch["groups"], launch["items"])]
        return lambda local: cl.enqueue_nd_range_kernel(self.queue, kernel, grid, local), grid, launch["items"]

    def run(self, inputs):
        """Runs all commands; returns the results, and the launches by kernel name."""
        results, launches = [], {}
        for command in self.manifest["commands"]:
            if command["command"] == "upload":
                data = inputs[command["input"]] if "input" in command else np.fromfile(self.folder / command["file"], "u1")
                cl.enqueue_copy(self.queue, self.memory[command["memory"]], np.ascontiguousarray(data))
            elif command["command"] == "launch":
                run, grid, written = self.kernel(command)
                run(written)
                launches[command["kernel"]] = (run, grid, written, [each.get("memory") for each in command["arguments"]])
            elif command["command"] == "copy":
                cl.enqueue_copy(self.queue, self.memory[command["memory"]], self.memory[command["from"]])
            elif command["command"] == "download":
                found = np.empty(self.memory[command["memory"]].size // 4, "f4")
                cl.enqueue_copy(self.queue, found, self.memory[command["memory"]])
                results.append(found)
        self.queue.finish()
        return results, launches


def image(context, width, height):
    return cl.create_image(context, cl.mem_flags.READ_WRITE,
                           cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT), shape=(width, height))


def upload(queue, pixels):
    made = image(queue.context, pixels.shape[1], pixels.shape[0])
    cl.enqueue_copy(queue, made, np.ascontiguousarray(pixels), origin=(0, 0), region=made.shape)
    return made


def download(queue, source):
    pixels = np.empty((source.height, source.width, 4), "f4")
    cl.enqueue_copy(queue, pixels, source, origin=(0, 0), region=(source.width, source.height))
    return pixels


def padded(array, axis, unit=4):
    sizes = [(0, 0)] * array.ndim
    sizes[axis] = (0, -array.shape[axis] % unit)
    return np.pad(array, sizes)


def of_channels(x):
    """Packs (N, C, H, W) into rows (N, H) of pixels (C/4, W) with four channels each."""
    x = padded(x, 1)
    n, c, h, w = x.shape
    return x.reshape(n, c // 4, 4, h, w).transpose(0, 3, 1, 4, 2).reshape(n * h, c // 4 * w, 4)


def of_filter(x):
    """Packs (O, I, H, W) into rows (O/4, H, W) of pixels (I) with four output channels each."""
    x = padded(padded(x, 0), 1)
    o, i, h, w = x.shape
    return x.reshape(o // 4, 4, i, h, w).transpose(0, 3, 4, 2, 1).reshape(o // 4 * h * w, i, 4)


def of_depthwise(x):
    """Packs (C, H, W) into rows (C/4) of pixels (H, W) with four channels each."""
    x = padded(x, 0)
    c, h, w = x.shape
    return x.reshape(c // 4, 4, h, w).transpose(0, 2, 3, 1).reshape(c // 4, h * w, 4)


def of_rows(x):
    """Packs (batch, M, K) into rows (batch, M) of pixels (K/4)."""
    return padded(x, 2).reshape(-1, up(x.shape[2], 4), 4)


def of_columns(x):
    """Packs (batch, K, N) into rows (batch, K/4) of pixels (N) with four values of K each."""
    x = padded(x, 1)
    b, k, n = x.shape
    return x.reshape(b, k // 4, 4, n).transpose(0, 1, 3, 2).reshape(-1, n, 4)


def mace(queue, folder, op, x, filter, shared):
    """Returns a function that launches MACE's kernel with a work-group size, the image of its result, whether its
    data image is one of `shared` (the images of our package), and its global size."""
    def place(pixels):
        """Returns the image in `shared` with these pixels, or a new one, and true if it is shared."""
        for each in shared:
            if (each.width, each.height) == pixels.shape[1::-1] and np.array_equal(download(queue, each), pixels):
                return each, True
        return upload(queue, pixels), False

    options, file, values = [], op["kind"], []
    if op["kind"] == "matmul":
        b, m, k = x.shape
        n = filter.shape[2]
        (first, same), (second, _) = place(of_rows(x)), place(of_columns(filter))
        size, grid = (n, b * up(m, 4)), (up(n, 4), b * up(m, 4))
        values, name, file = [m, n, k, up(m, 4), up(k, 4)], "matmul", "matmul"
        values = list(map(np.int32, values))
    else:
        n, c, h, w = x.shape
        kh, kw = filter.shape[-2:]
        stride, pad = op["stride"], op["pad"]
        oc, oh, ow = filter.shape[0], up(h + 2 * pad - kh + 1, stride), up(w + 2 * pad - kw + 1, stride)
        size, limit = (up(oc, 4) * ow, n * oh), [np.float32(0)]
        first, same = place(of_channels(x))
        second, _ = place(of_depthwise(filter) if op["kind"] == "depthwise" else of_filter(filter))
        pixels = 5 if op["kind"] == "convolution" and kh == 3 else 4
        grid = (up(oc, 4), up(ow, pixels), n * oh)
        if op["kind"] == "depthwise":
            file, name = "depthwise_conv2d", "depthwise_conv2d" + "_s1" * (stride == 1)
            options = [f"-DSTRIDE={stride}"]
            values = limit * 2 + list(map(np.int16, [h, w, up(c, 4), oh, ow, kh, kw, pad, pad] + [1, 1] * (stride != 1)))
        elif kh == 1:
            file = name = "conv_2d_1x1"
            values = limit + list(map(np.int32, [h, w, up(c, 4), oh, ow, stride]))
        else:
            file = name = "conv_2d_3x3"
            values = limit * 2 + list(map(np.int32, [h, w, up(c, 4), oh, ow, stride, pad, pad, 1, 1]))
    text = (folder / f"{file}.cl").read_text()
    program = cl.Program(queue.context, text).build(
        [f"-I{folder}", "-DDATA_TYPE=float", "-DCMD_DATA_TYPE=f", "-cl-mad-enable", "-cl-fast-relaxed-math", "-DNON_UNIFORM_WORK_GROUP", *options])
    result = image(queue.context, *size)
    kernel = cl.Kernel(program, name)
    arguments = [*map(np.int32, grid), first, second, result, *values]

    def launch(local):
        kernel.set_args(*arguments)  # the kernel object does not keep its images alive
        return cl.enqueue_nd_range_kernel(queue, kernel, grid, local)

    return launch, result, same, grid


def seconds(event):
    event.wait()
    return (event.profile.end - event.profile.start) * 1e-9


def groups(grid):
    """Returns the distinct work-group sizes derived from SHAPES that divide the grid."""
    sizes = [tuple(math.gcd(each, many) for each, many in zip(shape, grid)) for shape in SHAPES]
    return list(dict.fromkeys(sizes))


def median_ratio(times, others):
    return statistics.median(a / b for a, b in zip(times, others))


def main(folder, package, op):
    op = json.loads(op)
    device = cl.get_platforms()[0].get_devices()[0]
    queue = cl.CommandQueue(cl.Context([device]), properties=cl.command_queue_properties.PROFILING_ENABLE)
    random = np.random.default_rng(1)
    x, filter = (random.standard_normal(shape, "f4") for shape in (op["data"], op["filter"]))
    expected, expected_pixels = reference(op, x, filter)

    ours = Package(queue, pathlib.Path(package))
    results, launches = ours.run([x, filter])
    known = [name for name in launches if not name.startswith("layout_convert")]
    if len(known) != 1:
        raise SystemExit(f"one of these computes more than a conversion: {', '.join(launches)}")
    run, own_grid, written, used = launches[known[0]]
    images = [ours.memory[each] for each in used if each is not None and isinstance(ours.memory[each], cl.Image)]
    launch, result, same, grid = mace(queue, pathlib.Path(folder), op, x, filter, images[:-1])
    ways = [*((run, local) for local in [written, *groups(own_grid)]), *((launch, local) for local in [None, *groups(grid)])]
    times = [[] for _ in ways]
    until, rounds = time.monotonic() + op["seconds"], 0
    while rounds < 3 or time.monotonic() < until:
        for (start, local), taken in zip(ways, times):
            taken.append(seconds(start(local)))
        rounds += 1
    own, others = (min((taken for (start, _), taken in zip(ways, times) if start is side), key=statistics.median)
                   for side in (run, launch))
    largest = np.abs(expected).max()
    print(json.dumps({
        "ours": statistics.median(own) * 1e3, "mace": statistics.median(others) * 1e3, "rounds": rounds,
        "ratio": median_ratio(own, others), "written_ratio": median_ratio(times[0], others), "same_image": same,
        "difference": float(np.abs(results[0].reshape(expected.shape) - expected).max() / largest),
        "mace_difference": float(np.abs(download(queue, result) - expected_pixels).max() / largest)}))


def reference(op, x, filter):
    """Returns the result by NumPy, and its pixels in MACE's image."""
    if op["kind"] == "matmul":
        found = x @ filter
        b, m, n = found.shape
        rows = padded(found, 1).reshape(b, up(m, 4), 4, n).transpose(0, 1, 3, 2).reshape(-1, n, 4)
        return found, rows
    pad, stride = op["pad"], op["stride"]
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)]), filter.shape[-2:], (2, 3))[:, :, ::stride, ::stride]
    letters = "nchwij,cij->nchw" if op["kind"] == "depthwise" else "nchwij,ocij->nohw"
    found = np.einsum(letters, windows, filter, optimize=True)
    return found, of_channels(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
