# RUN: rm -rf %t && mkdir -p %t
# RUN: %host_cxx -shared -Wl,--whole-archive %layout_obj_root/lib/libLayoutNpuSimulator.a -Wl,--no-whole-archive -o %t/okk.so
# RUN: %python %s %t/okk.so | FileCheck %s
# Check each function of okk_bdc.h separately on random tensors of several shapes and start cores, against numpy; the
# largest relative difference must be below 1e-6, for sums below 1e-5. Check the results for special values, which are
# those of the vendor's model of BM1684, and that arguments out of range are refused.
# CHECK: functions: {{[0-9]+}} runs, 0 wrong, 0 errors
# CHECK: arguments refused: 22 of 22
# CHECK: refused: 7 of 7
# CHECK: kernels: 5 of 5
import ctypes
import itertools
import sys

import numpy as np

UNITS, BYTES, EU = 4, 65536, 128
okk = ctypes.CDLL(sys.argv[1])
random = np.random.default_rng(3)


class Dim4(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in "nchw"]


class Dim2(ctypes.Structure):
    _fields_ = [("h", ctypes.c_int), ("w", ctypes.c_int)]


class Padding(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("top", "bottom", "left", "right")]


class X32(ctypes.Union):
    _fields_ = [("fp32", ctypes.c_float), ("u32", ctypes.c_uint)]


class OrAddress(ctypes.Structure):
    class Context(ctypes.Union):
        _fields_ = [("val", ctypes.c_float), ("addr", ctypes.c_uint)]
    _fields_ = [("is_addr", ctypes.c_bool), ("context", Context)]


okk.okk_sim_alloc.restype = ctypes.c_ulonglong
okk.okk_sim_alloc.argtypes = [ctypes.c_ulonglong]
okk.okk_sim_run_kernel.restype = ctypes.c_bool
okk.okk_sim_run_kernel.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
for host in (okk.okk_sim_write, okk.okk_sim_read):
    host.argtypes = [ctypes.c_ulonglong, ctypes.c_void_p, ctypes.c_ulonglong]
okk.okk_gdma_32bit_cpy_S2L.argtypes = [ctypes.c_uint, ctypes.c_ulonglong] + [ctypes.c_void_p] * 3
okk.okk_gdma_32bit_cpy_L2S.argtypes = [ctypes.c_ulonglong, ctypes.c_uint] + [ctypes.c_void_p] * 3
okk.okk_gdma_8bit_cpy_S2L.argtypes = [ctypes.c_uint, ctypes.c_ulonglong] + [ctypes.c_void_p] * 3
okk.okk_sim_error.restype = ctypes.c_char_p


class Chip:
    """Tensors from the first free byte on, all with one start core."""

    def __init__(self, start=0):
        okk.okk_sim_open(UNITS, BYTES, EU)
        self.start, self.free = start, 0

    def strides(self, shape, compact=False):
        n, c, h, w = shape
        rows = -(-(self.start + c) // UNITS)
        plane = h * w if compact else -(-h * w * 4 // EU) * EU // 4
        return Dim4(rows * plane, plane, w, 1)

    def place(self, shape, compact=False):
        stride = self.strides(shape, compact)
        address = self.start * BYTES + self.free
        self.free += -(-shape[0] * stride.n * 4 // EU) * EU
        assert self.free <= BYTES
        return address, stride

    def put(self, array, compact=False, start=None):
        array = np.ascontiguousarray(array)
        address, stride = self.place(array.shape, compact)
        system = okk.okk_sim_alloc(array.nbytes)
        okk.okk_sim_write(system, array.ctypes.data, array.nbytes)
        okk.okk_gdma_32bit_cpy_S2L(address, system, ctypes.byref(Dim4(*array.shape)), ctypes.byref(stride), None)
        return address

    def walk_matrix(self, address, rows, columns, width):
        """Yields the address, columns and box of whole channels, and of the rest of the last one."""
        start, offset = divmod(address, BYTES)
        whole, rest = divmod(columns, width)
        stride = self.strides((rows, -(-columns // width), 1, width))
        if whole:
            yield address, slice(0, whole * width), Dim4(rows, whole, 1, width), stride
        if rest:
            row, core = divmod(start + whole, UNITS)
            last = core * BYTES + offset + 4 * row * stride.c
            yield last, slice(whole * width, columns), Dim4(rows, 1, 1, rest), stride

    def put_matrix(self, matrix, width):
        """Stores a matrix in channels of `width` columns, with the rows of the execution units."""
        rows, columns = matrix.shape
        address, _ = self.place((rows, -(-columns // width), 1, width))
        for part, which, box, stride in self.walk_matrix(address, rows, columns, width):
            data = np.ascontiguousarray(matrix[:, which])
            system, source = okk.okk_sim_alloc(data.nbytes), Dim4(box.c * box.w, box.w, 0, 1)
            okk.okk_sim_write(system, data.ctypes.data, data.nbytes)
            okk.okk_gdma_32bit_cpy_S2L(part, system, ctypes.byref(box), ctypes.byref(stride), ctypes.byref(source))
        return address

    def get_matrix(self, address, rows, columns, width):
        matrix = np.zeros((rows, columns), np.float32)
        for part, which, box, stride in self.walk_matrix(address, rows, columns, width):
            data = np.zeros((rows, box.c * box.w), np.float32)
            system, dest = okk.okk_sim_alloc(data.nbytes), Dim4(box.c * box.w, box.w, 0, 1)
            okk.okk_gdma_32bit_cpy_L2S(system, part, ctypes.byref(box), ctypes.byref(dest), ctypes.byref(stride))
            okk.okk_sim_read(system, data.ctypes.data, data.nbytes)
            matrix[:, which] = data
        return matrix

    def pairs(self, weights):
        """Stores (O, I, KH, KW) as [I, O, KH, KW] in 2IC mode, by two transfers."""
        o, i, kh, kw = weights.shape
        even = np.zeros((-(-i // 2), o, kh * kw, 2), np.float32)
        for k in range(i):
            even[k // 2, :, :, k % 2] = weights[:, k].reshape(o, kh * kw)
        return self.put(even, compact=True)

    def put_bytes(self, array, compact):
        """Stores bytes contiguously, with aligned or compact channels."""
        rows = -(-(self.start + array.shape[1]) // UNITS)
        plane = array.shape[2] * array.shape[3]
        plane = -(-plane // (4 if compact else EU)) * (4 if compact else EU)
        address, system = self.start * BYTES + self.free, okk.okk_sim_alloc(array.nbytes)
        self.free += -(-array.shape[0] * rows * plane // EU) * EU
        okk.okk_sim_write(system, array.ctypes.data, array.nbytes)
        stride = Dim4(rows * plane, plane, array.shape[3], 1)
        okk.okk_gdma_8bit_cpy_S2L(address, system, ctypes.byref(Dim4(*array.shape)), ctypes.byref(stride), None)
        return address

    def get(self, address, shape, stride=None):
        array = np.zeros(shape, np.float32)
        system = okk.okk_sim_alloc(array.nbytes)
        okk.okk_gdma_32bit_cpy_L2S(system, address, ctypes.byref(Dim4(*shape)), None, stride and ctypes.byref(stride))
        okk.okk_sim_read(system, array.ctypes.data, array.nbytes)
        return array


def errors():
    return [okk.okk_sim_error(i).decode() for i in range(okk.okk_sim_num_errors())]


runs = wrong = broken = 0


def check(name, got, want, within):
    global runs, wrong, broken
    runs += 1
    if errors():
        print(name, errors()[0])
        broken += 1
    scale = max(float(np.abs(want[np.isfinite(want)]).max(initial=0)), 1e-3)
    if words(got).tolist() == words(want.astype(np.float32)).tolist():
        return
    difference = np.abs(got - want).max()
    if not difference <= within * scale:
        print(name, "differs by", difference / scale)
        wrong += 1



def words(array):
    return array.view(np.uint32)


def shift(values, by, signed):
    values = values.view(np.int32) if signed else values.view(np.uint32)
    by = (by + 32) % 64 - 32  # six bits, signed
    by = np.where(by == -32, 0, by)
    left = (values.view(np.uint32).astype(np.uint64) << np.clip(by, 0, 40).astype(np.uint64)).astype(np.uint32)
    right = values.astype(np.int64) >> np.clip(-by, 0, 31 if signed else 40)
    return np.where(by >= 0, left, right.astype(np.uint64).astype(np.uint32)).astype(np.uint32)


UNARY = {"relu": lambda a: np.maximum(a, 0), "neg": lambda a: -a, "reciprocal": lambda a: 1 / a,
         "32bit_cpy": lambda a: a}
ALIGNED = {"rsqrt": lambda a: 1 / np.sqrt(a), "sqrt": np.sqrt}
WORK = {"exp": np.exp, "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "tanh": np.tanh}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum,
          "min": np.minimum}
CONSTANT = {**{f"{k}_C": v for k, v in BINARY.items()}, "C_sub": lambda a, c: c - a, "C_div": lambda a, c: c / a}
LOGIC = {"32bit_and": np.bitwise_and, "32bit_or": np.bitwise_or, "32bit_xor": np.bitwise_xor}


def elementwise(shape, start):
    size, stride = ctypes.byref(Dim4(*shape)), None
    x, y = (random.uniform(0.5, 4, shape).astype(np.float32) * random.choice([-1, 1], shape).astype(np.float32)
            for _ in range(2))

    def run(name, arrays, want, *more, within=1e-6, strides=True):
        chip = Chip(start)
        dst, _ = chip.place(shape)
        sources = [chip.put(a) for a in arrays]
        tail = [None] * (1 + len(arrays)) if strides else []
        getattr(okk, "okk_bdc_" + name)(dst, *sources, *more, size, *tail)
        check(name, chip.get(dst, shape), want, within)

    for name, fn in UNARY.items():
        run(name, [x], fn(x))
    for name, fn in ALIGNED.items():
        run(name, [np.abs(x)], fn(np.abs(x)), strides=False)
    for name, fn in WORK.items():
        chip = Chip(start)
        (dst, _), src, (work, _) = chip.place(shape), chip.put(x), chip.place(shape)
        getattr(okk, "okk_bdc_" + name)(dst, src, work, size)
        check(name, chip.get(dst, shape), fn(x), 1e-6)
    octets = random.integers(-128, 128, shape).astype(np.int8)
    for is_signed, is_aligned in itertools.product((False, True), repeat=2):
        chip = Chip(start)
        (dst, stride), src, (work, _) = chip.place(shape, not is_aligned), chip.put_bytes(octets, not is_aligned), chip.place(shape)
        okk.okk_bdc_int8_to_fp32(dst, src, work, size, is_signed, is_aligned)
        check("int8_to_fp32", chip.get(dst, shape, stride),
              (octets if is_signed else octets.view(np.uint8)).astype(np.float32), 0)
    for name, fn in BINARY.items():
        run(name, [x, y], fn(x, y))
    for name, fn in CONSTANT.items():
        run(name, [x], fn(x, np.float32(1.5)), ctypes.c_float(1.5))
    for name, fn in LOGIC.items():
        run(name, [x, y], fn(words(x), words(y)).view(np.float32))
        value = X32(fp32=3.25)
        run(name + "_C", [x], fn(words(x), np.uint32(value.u32)).view(np.float32), value)
    by = random.integers(-70, 70, shape).astype(np.int32)
    for name, signed in (("arithmetic", True), ("logical", False)):
        run(f"32bit_{name}_shift", [x, by.view(np.float32)], shift(x, by, signed).view(np.float32))
        run(f"32bit_{name}_shift_C", [x], shift(x, np.full(shape, -3), signed).view(np.float32), -3)
    chip = Chip(start)
    (dst, _), a, b = chip.place(shape), chip.put(x), chip.put(y)
    okk.okk_bdc_greater_select_value(dst, a, b, X32(fp32=2.5), size, None, None, None)
    check("greater_select_value", chip.get(dst, shape), np.where(x > y, 2.5, 0).astype(np.float32), 0)
    okk.okk_bdc_equal_select_value(dst, a, a, X32(fp32=2.5), size, None, None, None)
    check("equal_select_value", chip.get(dst, shape), np.full(shape, 2.5, np.float32), 0)
    for name, test in (("greater_C", x > 1), ("C_greater", 1 > x), ("equal_C", x == 1)):
        function = getattr(okk, f"okk_bdc_{name}_select_value")
        function(dst, a, ctypes.c_float(1), X32(fp32=7), size, None, None)
        check(name, chip.get(dst, shape), np.where(test, 7, 0).astype(np.float32), 0)
    at, number = lambda address: OrAddress(True, OrAddress.Context(addr=address)), OrAddress(False)
    number.context.val = 1.0
    for name, other, test in (("greater_select", number, x > 1), ("equal_select", at(b), x == y)):
        getattr(okk, "okk_bdc_" + name)(dst, *map(ctypes.byref, (at(a), other, at(b), number)), size)
        check(name, chip.get(dst, shape), np.where(test, y, 1).astype(np.float32), 0)
    for name in ("mac", "mac_C"):
        chip = Chip(start)
        dst, a, b = chip.put(y), chip.put(x), chip.put(x)
        if name == "mac":
            okk.okk_bdc_mac(dst, a, b, size, None, None, None)
        else:
            okk.okk_bdc_mac_C(dst, a, ctypes.c_float(1.5), size, None, None)
        check(name, chip.get(dst, shape), y + x * (x if name == "mac" else np.float32(1.5)), 1e-6)
    by_channel = [random.standard_normal((1, shape[1], 1, 1)).astype(np.float32) for _ in range(2)]
    for name, want in (("bias", x + by_channel[0]), ("scale", x * by_channel[0]),
                       ("scale_bias", x * by_channel[0] + by_channel[1])):
        chip = Chip(start)
        (dst, _), src = chip.place(shape), chip.put(x)
        numbers = [chip.put(a, compact=True) for a in by_channel[:1 + (name == "scale_bias")]]
        getattr(okk, "okk_bdc_" + name)(dst, src, *numbers, size, None, None)
        check(name, chip.get(dst, shape), want, 1e-6)


def windows(x, kernel, padding, stride, dilation, fill):
    """Returns the elements in each window as last dims."""
    top, bottom, left, right = padding
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    (kh, kw), (sh, sw), (dh, dw) = kernel, stride, dilation
    h, w = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1, (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    taps = [x[:, :, a * dh:a * dh + sh * (h - 1) + 1:sh, b * dw:b * dw + sw * (w - 1) + 1:sw]
            for a in range(kh) for b in range(kw)]
    return np.stack(taps, -1)


def layers(n, c, h, w, o, start, kernel, padding, stride, dilation):
    x = random.standard_normal((n, c, h, w)).astype(np.float32)
    weights = random.standard_normal((o, c, *kernel)).astype(np.float32)
    bias = random.standard_normal((1, o, 1, 1)).astype(np.float32)
    pad, step, spread = Padding(*padding), Dim2(*stride), Dim2(*dilation)
    taps = windows(x, kernel, padding, stride, dilation, 0)
    want = np.einsum("nchwk,ock->nohw", taps.astype(np.float64), weights.reshape(o, c, -1)).astype(np.float32)
    before = random.standard_normal(want.shape).astype(np.float32)
    for using_bias, adds in itertools.product((False, True), repeat=2):
        chip = Chip(start)
        dst = chip.put(before) if adds else chip.place(want.shape)[0]
        pairs, numbers = chip.pairs(weights), chip.put(bias, compact=True)
        chip.start = (start + 1) % UNITS  # the input is sent between cores
        src = chip.put(x)
        chip.start = start
        rows = chip.strides((-(-c // 2), o, *kernel), compact=True)
        okk.okk_bdc_conv2d(dst, src, pairs, numbers, ctypes.byref(Dim4(n, c, h, w)), o, *kernel, None,
                           ctypes.byref(rows), using_bias, adds, ctypes.byref(pad), ctypes.byref(step),
                           ctypes.byref(spread))
        check("conv2d", chip.get(dst, want.shape), want + bias * using_bias + before * adds, 1e-5)
    own = random.standard_normal((1, c, *kernel)).astype(np.float32)
    numbers = random.standard_normal((1, c, 1, 1)).astype(np.float32)
    chip = Chip(start)
    shape = (n, c, *want.shape[2:])
    (dst, _), src, at, add = chip.place(shape), chip.put(x), chip.put(own, True), chip.put(numbers, True)
    okk.okk_bdc_depthwise2d(dst, src, at, add, ctypes.byref(Dim4(n, c, h, w)), *kernel, True, ctypes.byref(pad),
                            ctypes.byref(step), ctypes.byref(spread))
    check("depthwise2d", chip.get(dst, shape), np.einsum("nchwk,ck->nchw", taps, own.reshape(c, -1)) + numbers, 1e-5)
    if dilation != (1, 1):
        return
    for name, want in (("avg_pool2d", taps.mean(-1)),
                       ("max_pool2d", windows(x, kernel, padding, stride, dilation, LOWEST).max(-1))):
        getattr(okk, "okk_bdc_" + name)(dst, src, ctypes.byref(Dim4(n, c, h, w)), *kernel, ctypes.byref(pad),
                                        ctypes.byref(step))
        check(name, chip.get(dst, shape), want, 1e-5)


def products(m, k, n, left_width, right_width, start):
    left, right, bias, before = (random.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n), (1, n), (m, n)))

    for using_bias, adds in itertools.product((False, True), repeat=2):
        chip = Chip(start)
        dst = chip.put_matrix(before, right_width)
        right_at, bias_at = chip.put_matrix(right, right_width), chip.put_matrix(bias, right_width)
        chip.start = (start + 2) % UNITS
        left_at = chip.put_matrix(left, left_width)
        chip.start = start
        okk.okk_bdc_matmul(dst, left_at, right_at, bias_at, m, k, n, left_width, right_width, using_bias, adds)
        got = chip.get_matrix(dst, m, n, right_width)
        want = left.astype(np.float64) @ right + bias * using_bias + before * adds
        check("matmul", got, want.astype(np.float32), 1e-5)


NAN, INF, LOWEST = np.nan, np.inf, np.finfo(np.float32).min
SMALL = 1e-40  # a denormal
# (function, sources, constants, results) on the vendor's model of BM1684.
SPECIAL = [
    ("neg", [[0, -0.0, SMALL, INF]], [], [0, 0, 0, -INF]),
    ("relu", [[NAN, -0.0, SMALL, -1]], [], [0, 0, 0, 0]),
    ("add", [[SMALL, -0.0, -0.0, INF], [1e-38, -0.0, 0, -INF]], [], [0, -0.0, 0, NAN]),
    ("add", [[SMALL, 1.2e-38], [0.5, 1.18e-38]], [], [0.5, 2.38e-38]),
    ("sub", [[1.2e-38, -0.0, 0], [1.18e-38, 0, SMALL]], [], [0, -0.0, 0]),
    ("mul", [[1.2e-38, 0, -1], [0.5, INF, SMALL]], [], [0, NAN, -0.0]),
    ("max", [[NAN, 1, 0, -0.0, -SMALL], [1, NAN, -0.0, 0, -1]], [], [1, NAN, -0.0, 0, -0.0]),
    ("min", [[NAN, 1, 0, -0.0, SMALL], [1, NAN, -0.0, 0, 1]], [], [1, NAN, 0, -0.0, 0]),
    ("div", [[1, 1, 0, 0, 3e38, 1, INF], [0, INF, 0, INF, 9e37, 2e38, INF]], [], [INF, INF, NAN, NAN, 0, 0, INF]),
    ("reciprocal", [[0, -0.0, INF, 1.2e-38, 2e38]], [], [INF, -INF, INF, INF, 0]),
    ("sqrt", [[0, -0.0, SMALL, INF, -4]], [], [2.2426577e-20, -7.6313688e18, 2.2426577e-20, -INF, INF]),
    ("rsqrt", [[0, -0.0, INF, -4]], [], [4.45899464e19, -1.31038075e-19, -INF, INF]),
    ("exp", [[NAN, -128, -100, 88.7228]], [], [NAN, 0, 0, 3.4026947e38]),
    ("sigmoid", [[NAN, 100, -88.5]], [], [NAN, 1, 0]),
    ("tanh", [[NAN, 40, -40]], [], [NAN, 1, -1]),
    ("taylor_exp", [[1, -1]], [2], [2.5, 0.5]),
    ("exp_tunable", [[1.5, -0.25, 3]], [1], [np.e * 1.5, 0.75, np.e ** 3]),
    ("greater_select_value", [[NAN, 1, SMALL, 0, 2], [1, NAN, 0, -0.0, 1]], [X32(fp32=5)], [0, 0, 0, 0, 5]),
    ("equal_select_value", [[NAN, 0, 0, INF, SMALL], [NAN, 0, -0.0, INF, 0]], [X32(fp32=5)], [5, 5, 0, 5, 0]),
    ("equal_C_select_value", [[0, -0.0, SMALL, NAN]], [ctypes.c_float(0), X32(fp32=5)], [5, 0, 0, 0]),
    ("max_pool2d", [[NAN, -INF, -SMALL]], [], [LOWEST, LOWEST, -0.0]),
]
INTEGERS = [("fp32_to_int32", [1.5, -1.5, 2.5, 3e9, -3e9, NAN, INF, SMALL],
             [1, -1, 2, 2**31 - 1, -2**31, 2**31 - 1, 2**31 - 1, 0])]
LOOKUPS = [("lookup_exp", [-103, -1, 0, 1, 88], np.exp(np.array([-103, -1, 0, 1, 88], np.float32))),
           ("lookup_int32_to_fp32", [-128, 0, 127], [-128, 0, 127])]
ALIGNED_NAMES = ("sqrt", "rsqrt", "taylor_exp")
WORK_NAMES = ("exp", "sigmoid", "tanh", "exp_tunable")


def call(name, chip, dst, sources, constants, shape):
    """Calls a function on rows of one core."""
    size = ctypes.byref(Dim4(*shape))
    function = getattr(okk, "okk_bdc_" + name)
    if name == "max_pool2d":
        function(dst, *sources, size, 1, 1, None, None)
    elif name in WORK_NAMES:
        function(dst, *sources, chip.place(shape)[0], size, *constants)
    elif name in ALIGNED_NAMES or name in ("fp32_to_int32", "lookup_exp", "lookup_int32_to_fp32"):
        function(dst, *sources, size, *constants)
    else:
        function(dst, *sources, *constants, size, *[None] * (1 + len(sources)))


def special():
    for name, sources, constants, want in SPECIAL:
        arrays = [np.array(source, np.float32).reshape(1, 1, 1, -1) for source in sources]
        chip = Chip()
        (dst, _), places = chip.place(arrays[0].shape), [chip.put(array) for array in arrays]
        call(name, chip, dst, places, constants, arrays[0].shape)
        got, want = chip.get(dst, arrays[0].shape).ravel(), np.array(want, np.float32)
        same = (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want)))
        with np.errstate(invalid="ignore"):
            close = np.isfinite(want) & np.isfinite(got) & (np.abs(got - want) <= 1e-6 * np.abs(want))
        exact = name in (*WORK_NAMES, "rsqrt", "sqrt") or "add" in name
        check(name, np.where(same | (close & exact), want, got), want, 0)
    for name, source, want in INTEGERS + LOOKUPS:
        element = np.float32 if name == "fp32_to_int32" else np.int32
        array = np.array(source, element).view(np.float32).reshape(1, 1, 1, -1)
        chip = Chip()
        (dst, _), place = chip.place(array.shape), chip.put(array)
        call(name, chip, dst, [place], [], array.shape)
        got = chip.get(dst, array.shape).ravel()
        if name == "fp32_to_int32":
            got, want = got.view(np.int32).astype(np.float64), np.array(want, np.float64)
            check(name, np.where(got == want, 0, 1).astype(np.float32), np.zeros(len(got), np.float32), 0)
        else:
            check(name, got, np.array(want, np.float32), 1e-6)


def refused_arguments():
    """Checks arguments out of range, and results over memory that a function still reads."""
    cases = [("exp", value) for value in (-129, 88.73, INF, -INF, LOWEST)]
    cases += [("sigmoid", value) for value in (-89, 130, INF, -INF)]
    cases += [("tanh", value) for value in (-87, 89, INF, -INF)]
    cases += [("lookup_exp", np.array(value, np.int32).view(np.float32)) for value in (-104, 89)]
    cases += [("lookup_int32_to_fp32", np.array(value, np.int32).view(np.float32)) for value in (-129, 128)]
    count, shape = 0, (1, 1, 1, 1)
    for name, value in cases:
        chip = Chip()
        (dst, _), place = chip.place(shape), chip.put(np.full(shape, value, np.float32))
        call(name, chip, dst, [place], [], shape)
        count += len(errors()) == 1
    one = ctypes.byref(Dim4(*shape))
    for name, over_source in (("exp", True), ("tanh", True), ("exp", False), ("sigmoid", False)):
        chip = Chip()
        place, (work, _) = chip.put(np.ones(shape, np.float32)), chip.place(shape)
        getattr(okk, "okk_bdc_" + name)(place if over_source else work, place, work, one)
        count += len(errors()) == 1
    chip = Chip()
    place, number = chip.put(np.ones(shape, np.float32)), OrAddress(False)
    at = OrAddress(True, OrAddress.Context(addr=place))
    okk.okk_bdc_equal_select(place, *map(ctypes.byref, (at, number, at, at)), one)
    count += len(errors()) == 1
    print(f"arguments refused: {count} of {len(cases) + 5}")


def refused():
    """Checks commands that each violate a rule."""
    big = Dim4(1, 5000, 1, 1)
    count = 0
    one = ctypes.byref(Dim4(1, 1, 1, 1))
    cases = [lambda chip, at: okk.okk_bdc_relu(at, at, ctypes.byref(big), None, None),
             lambda chip, at: okk.okk_bdc_relu(at, at, ctypes.byref(Dim4(1, 1, 1, 70000)), None, None),
             lambda chip, at: okk.okk_bdc_rsqrt(at + 4, at, one),
             lambda chip, at: okk.okk_bdc_relu(at, at + 1024, one, None, None),  # uninitialized
             lambda chip, at: okk.okk_bdc_conv2d(at, at, at, 0, one, 1, 2, 1, None, one, False, False, None, None,
                                                 None),
             lambda chip, at: okk.okk_bdc_depthwise2d(at, at + BYTES, at, 0, one, 1, 1, False, None, None, None),
             lambda chip, at: okk.okk_bdc_matmul(at, at, at, 0, 1, 1, 1, 2, 1, False, False)]
    for case in cases:
        chip = Chip()
        case(chip, chip.put(np.ones((1, 1, 1, 1), np.float32)))
        count += bool(errors())
    print(f"refused: {count} of {len(cases)}")


def kernels():
    """Checks registered kernels: a valid one, and the reports for others."""
    KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    start, stop, begin, end = (okk.okk_initialize, okk.okk_poll, okk.okk_parallel_start, okk.okk_parallel_end)
    cases = {"": [start, begin, end, stop], "does not initialize": [stop], "does not wait": [start],
             "waits for its end inside": [start, begin, stop], "leaves a parallel region open": [start, begin]}
    count = 0
    for number, (why, steps) in enumerate(cases.items()):
        Chip()
        kernel = KERNEL(lambda parameters, steps=steps: [step() for step in steps] and None)
        okk.okk_register_kernel_func(b"kernel%d" % number, kernel)
        assert okk.okk_sim_run_kernel(b"kernel%d" % number, None)
        count += any(why in error for error in errors()) if why else not errors()
    assert not okk.okk_sim_run_kernel(b"another", None)
    print(f"kernels: {count} of {len(cases)}")


for start, shape in enumerate([(1, 1, 1, 1), (2, 3, 4, 5), (1, 9, 7, 3), (3, 5, 1, 40)]):
    elementwise(shape, start)
layers(1, 3, 8, 7, 5, 0, (3, 3), (1, 1, 1, 1), (2, 2), (1, 1))
layers(2, 4, 6, 6, 6, 2, (1, 1), (0, 0, 0, 0), (1, 1), (1, 1))
layers(1, 5, 9, 9, 3, 3, (3, 2), (2, 1, 0, 3), (1, 2), (2, 3))
layers(3, 1, 5, 4, 9, 1, (5, 4), (0, 0, 0, 0), (1, 1), (1, 1))
products(3, 7, 10, 2, 3, 0)
products(1, 40, 33, 10, 9, 2)
products(5, 1, 1, 1, 1, 3)
special()
print(f"functions: {runs} runs, {wrong} wrong, {broken} errors")
refused_arguments()
refused()
kernels()
