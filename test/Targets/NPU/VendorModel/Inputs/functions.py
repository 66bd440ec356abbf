"""The commands of run-functions.py: for each row of FUNCTIONS, one command of OKKernel with random operands."""

import ctypes

from npu_commands import Draw, aligned, compact

UNARY = ("32bit_cpy", "relu")
BINARY = ("add", "sub", "mul", "mac", "max", "min")
CONSTANT = ("add_C", "sub_C", "C_sub", "mul_C", "mac_C", "max_C", "min_C")
LOGIC = ("and", "or", "xor")
DENORMAL, INFINITY, NAN = 1e-40, float("inf"), float("nan")
# Each name has a function of a seed and a number that returns a command.
FUNCTIONS = {}


def row(name, **options):
    """Adds a function of Draw as a row; the options are those of Draw, and `may_refuse`."""
    may_refuse = options.pop("may_refuse", False)

    def add(function):
        def make(seed, number):
            draw = Draw(seed, name, number, **options)
            draw.command.may_refuse = may_refuse
            function(draw)
            return draw.command
        assert name not in FUNCTIONS, name
        FUNCTIONS[name] = make
        return function
    return add


class OrAddress(ctypes.Structure):
    """fp32_or_addr_t and x32_or_addr_t."""
    class Context(ctypes.Union):
        _fields_ = [("value", ctypes.c_float), ("address", ctypes.c_uint)]
    _fields_ = [("is_address", ctypes.c_bool), ("context", Context)]


def at(address):
    return OrAddress(True, OrAddress.Context(address=address))


def number(value):
    return OrAddress(False, OrAddress.Context(value=value))


# ------------------------------------------------------------------ transfers

def transfer(bits, direction):
    element = bits // 8

    def make(draw):
        shape = draw.shape(h=7, w=16 * 4 // element)
        sides = []
        for side in direction[::-1].replace("2", ""):  # the destination first
            if side == "L":
                core = draw.integer(0, 63)
                stride = draw.pick(None, compact(shape, core), draw.gaps(shape, core))
                sides.append((draw.place(shape, stride, element, core, None if stride is None else max(element, 4)),
                              stride))
            else:
                c = shape[1] * shape[2] * shape[3]
                plane, line = shape[2] * shape[3] + draw.integer(0, 3), shape[3]
                stride = draw.pick(None, (c, shape[2] * line, line, 1), (plane * shape[1] + 2, plane, line, 1))
                size = (shape[0] * (plane * shape[1] + 2) + 8) * element
                sides.append((draw.system(size, element), stride))
        draw.call(f"gdma_{bits}bit_cpy_{direction}", sides[0][0], sides[1][0], shape, sides[0][1], sides[1][1])
    return make


def fill(bits, is_local, has_stride=True):
    element = bits // 8

    def make(draw):
        shape = draw.shape(h=7)
        value = draw.random.getrandbits(bits)
        if is_local:
            stride = draw.pick(aligned(shape, draw.core, element), compact(shape, draw.core),
                               draw.gaps(shape, draw.core)) if has_stride else None
            place = draw.place(shape, stride, element, align=128 if stride is None else 4)
            draw.call(f"gdma_{bits}bit_set_C_local", place, value, shape, stride)
        else:
            c = shape[1] * shape[2] * shape[3]
            stride = draw.pick(None, (c + 3, shape[2] * shape[3], shape[3], 1))
            place = draw.system((c + 3) * shape[0] * element, element)
            draw.call(f"gdma_{bits}bit_set_C_system", place, value, shape, stride)
    return make


for bits in (32, 16, 8):
    for direction in ("S2L", "L2S", "L2L", "S2S"):
        row(f"gdma_{bits}bit_cpy_{direction}")(transfer(bits, direction))
    row(f"gdma_{bits}bit_set_C_system")(fill(bits, False))
    row(f"gdma_{bits}bit_set_C_local")(fill(bits, True))
row("gdma_32bit_set_C_local without strides")(fill(32, True, has_stride=False))
row("gdma_16bit_set_C_local without strides", may_refuse=True)(fill(16, True, has_stride=False))
row("gdma_8bit_set_C_local without strides", may_refuse=True)(fill(8, True, has_stride=False))


def matrix(direction, cores):
    def make(draw):
        height, each, core = draw.integer(2, 9), draw.integer(1, 40), draw.integer(*cores)
        width = draw.integer(3 * each, 15 * each)
        channels = -(-width // each)
        local = draw.place((height, channels, 1, each), None, core=core)
        pitch = width + draw.integer(0, 5)
        system = draw.system(height * pitch * 4, 4)
        sides = (local, system) if direction == "S2L" else (system, local)
        draw.call(f"gdma_32bit_matrix_{direction}", *sides, height, width, each, pitch)
    return make


for direction in ("S2L", "L2S"):
    row(f"gdma_32bit_matrix_{direction}")(matrix(direction, (0, 0)))
    row(f"gdma_32bit_matrix_{direction} from the last cores on", may_refuse=True)(matrix(direction, (62, 63)))


@row("transfer of 65536 rows")
def _(draw):
    shape = draw.pick((1, 1, 65536, 1), (1, 1, 1, 65536 + draw.integer(0, 9000)))
    draw.call("gdma_8bit_set_C_system", draw.system(80000), 7, shape, None)


# ---------------------------------------------------------------- elementwise

def elementwise(name, sources=1, constant=None, steps=(1,), reads_result=False):
    def make(draw):
        shape = draw.shape()
        to = draw.stride(shape, steps)
        result = draw.place(shape, to)
        strides = [draw.source_stride(shape) for _ in range(sources)]
        places = [draw.place(shape, stride) for stride in strides]
        if draw.integer(0, 5) == 0 and not reads_result:  # in place
            places[0], strides[0] = result, to
        draw.call(f"bdc_{name}", result, *places, *([] if constant is None else [constant(draw)]), shape, to, *strides)
    return make


def close(function, each=0.0, largest=0.0):
    """Lets the results of the first result tensor of a row differ by rounding."""
    def make(draw):
        function(draw)
        call = draw.command.calls[-1]
        first = next(i for i, each in enumerate(call) if isinstance(each, tuple))
        result, shape, stride = call[1], call[first], call[first + 1]
        draw.command.results.append((result, shape, stride or aligned(shape, draw.core)))
        draw.round(each, largest)
    return make


for name in UNARY:
    row(name)(elementwise(name))
for name in BINARY:
    row(name)(elementwise(name, 2, reads_result=name == "mac"))
for name in CONSTANT:
    row(name)(elementwise(name, 1, Draw.number, reads_result=name == "mac_C"))
row("neg")(elementwise("neg"))
for name in LOGIC:
    row(f"32bit_{name}", values="words")(elementwise(f"32bit_{name}", 2))
    row(f"32bit_{name}_C", values="words")(elementwise(f"32bit_{name}_C", 1, lambda draw: draw.random.getrandbits(32)))
row("reciprocal")(close(elementwise("reciprocal"), each=1e-6))
row("div")(close(elementwise("div", 2), each=1e-6))
for name in ("div_C", "C_div"):
    row(name)(close(elementwise(name, 1, Draw.number), each=1e-6))
for name, values in (("denormal numbers", [DENORMAL, -DENORMAL, 1, 2]), ("zeros", [0.0, -0.0, 1, -1]),
                     ("infinities", [INFINITY, -INFINITY, 1, -2])):
    for function, count in (("add", 2), ("sub", 2), ("mul", 2), ("max", 2), ("min", 2), ("relu", 1), ("neg", 1),
                            ("32bit_cpy", 1)):
        row(f"{function} of {name}", values=values, may_refuse=True)(elementwise(function, count))
for name, values in (("infinities", [INFINITY, 1, 2]), ("denormal numbers", [DENORMAL, 1, 2]), ("zeros", [0.0, 1, 2]),
                     ("1.2e-38", [1.2e-38, 1, 2])):
    row(f"div by {name}", values=values, may_refuse=True)(close(elementwise("div", 2), each=1e-6))


@row("32bit_set_C")
def _(draw):
    shape = draw.shape()
    stride = draw.stride(shape)
    draw.call("bdc_32bit_set_C", draw.place(shape, stride), draw.random.getrandbits(32), shape, stride)


def shift(name, lowest, highest):
    def make(draw):
        shape = draw.shape()
        strides = [draw.stride(shape) for _ in range(3)]
        result, source, amounts = (draw.place(shape, stride) for stride in strides)
        count = shape[0] * shape[1] * shape[2] * shape[3]
        draw.put(amounts, shape, strides[2], draw.numbers.integers(lowest, highest + 1, count, "i4"))
        if name.startswith("C_"):
            draw.call(f"bdc_32bit_{name}", result, amounts, draw.random.getrandbits(32), shape, strides[0], strides[2])
        elif name.endswith("_C"):
            draw.call(f"bdc_32bit_{name}", result, source, draw.integer(lowest, highest), shape, *strides[:2])
        else:
            draw.call(f"bdc_32bit_{name}", result, source, amounts, shape, *strides)
    return make


for kind in ("arithmetic", "logical"):
    for name in (f"{kind}_shift", f"{kind}_shift_C", f"C_{kind}_shift"):
        row(f"32bit_{name}", values="words")(shift(name, -31, 31))
        row(f"32bit_{name} by 32 and more", values="words", may_refuse=True)(shift(name, 32, 80))


def select_value(name, has_constant, values):
    def make(draw):
        shape = draw.shape()
        strides = [draw.stride(shape) for _ in range(2 if has_constant else 3)]
        result, *sources = (draw.place(shape, stride) for stride in strides)
        constant = [float(draw.pick(*values))] if has_constant else []
        draw.call(f"bdc_{name}_select_value", result, *sources, *constant, draw.random.getrandbits(32), shape, *strides)
    return make


def select(name, patterns, values):
    def make(draw):
        shape = draw.shape()
        result = draw.place(shape, None)
        operands = [at(draw.place(shape, None)) if is_address else number(float(draw.pick(*values)))
                    for is_address in draw.pick(*patterns)]
        draw.call(f"bdc_{name}", result, *operands, shape)
    return make


ORDINARY, SPECIAL = [1.0, 2.0, -1.0, 2.5], [0.0, -0.0, NAN, 1.0]
for name, has_constant in (("greater", False), ("equal", False), ("greater_C", True), ("C_greater", True),
                           ("equal_C", True)):
    row(f"{name}_select_value", values=ORDINARY)(select_value(name, has_constant, ORDINARY))
    row(f"{name}_select_value of zeros and NaN", values=SPECIAL, may_refuse=True)(
        select_value(name, has_constant, SPECIAL))
BOTH = [(True, True, a, b) for a in (False, True) for b in (False, True)]
MIXED = [(x, not x, a, b) for x in (False, True) for a in (False, True) for b in (False, True)]
row("greater_select", values=ORDINARY)(select("greater_select", BOTH + MIXED, ORDINARY))
row("equal_select", values=ORDINARY)(select("equal_select", BOTH, ORDINARY))
row("equal_select with a number", values=ORDINARY, may_refuse=True)(select("equal_select", MIXED, ORDINARY))
row("equal_select of zeros and NaN", values=SPECIAL, may_refuse=True)(select("equal_select", BOTH, SPECIAL))
row("greater_select of zeros and NaN", values=SPECIAL, may_refuse=True)(select("greater_select", BOTH, SPECIAL))


def by_channel(name, channels):
    def make(draw):
        shape = draw.shape()
        strides = [draw.stride(shape) for _ in range(2)]
        result, source = (draw.place(shape, stride) for stride in strides)
        vector = (1, shape[1], 1, 1)
        operands = [draw.place(vector, compact(vector, draw.core)) for _ in range(channels)]
        draw.call(f"bdc_{name}", result, source, *operands, shape, *strides)
    return make


for name, channels in (("bias", 1), ("scale", 1), ("scale_bias", 2)):
    row(name)(close(by_channel(name, channels), largest=1e-6 if name == "scale_bias" else 0.0))


# ------------------------------------------- functions of aligned operands

def of_aligned(name, *more, each=0.0, largest=0.0, work=False, in_place=False):
    def make(draw):
        shape = draw.shape()
        result = draw.result(shape, None)
        source = result if in_place else draw.place(shape, None)
        draw.call(f"bdc_{name}", result, source, *([draw.work(shape)] if work else []), shape, *more)
        draw.round(each, largest)
    return make


row("sqrt", values=(0.1, 9))(of_aligned("sqrt", each=1e-6))
row("rsqrt", values=(0.1, 9))(of_aligned("rsqrt", each=1e-6))
for name in ("sqrt", "rsqrt"):
    row(f"{name} of zeros and infinities", values=[0.0, -0.0, INFINITY, -1, 4], may_refuse=True)(
        of_aligned(name, each=1e-6))
row("exp", values=(-80, 80))(of_aligned("exp", each=1e-5, work=True))
row("exp beyond its range", values=[-200, -3.4e38, -INFINITY, 89, 128, 1], may_refuse=True)(
    of_aligned("exp", each=1e-5, work=True))
row("sigmoid", values=(-80, 80))(of_aligned("sigmoid", each=1e-5, work=True))
row("sigmoid beyond its range", values=[-89, -88.8, 150, -100, 1], may_refuse=True)(
    of_aligned("sigmoid", each=1e-5, work=True))
row("tanh", values=(-80, 80))(of_aligned("tanh", largest=1e-6, work=True))
row("tanh beyond its range", values=[-100, 100, 1], may_refuse=True)(of_aligned("tanh", largest=1e-6, work=True))
for name in ("exp", "sigmoid", "tanh"):
    row(f"{name} in place", values=(-20, 20), may_refuse=name != "sigmoid")(
        of_aligned(name, each=1e-5, largest=1e-6, work=True, in_place=True))
    for count in (1, 4, 8):
        row(f"{name}_tunable({count})", values=(-20, 20), may_refuse=True)(
            of_aligned(f"{name}_tunable", count, each=1e-5, largest=1e-6, work=True))
row("lookup_exp", values=(0.5, 4), may_refuse=True)(of_aligned("lookup_exp", each=1e-6))
for count in (1, 4, 8):
    row(f"taylor_exp({count})", values=(-1, 1), may_refuse=True)(of_aligned("taylor_exp", count, each=1e-6))
row("fp32_to_int32", values=[float(x) for x in range(-50, 50)])(of_aligned("fp32_to_int32"))
row("fp32_to_int32 of fractions", values=[0.5, 1.5, -1.5, 2.75, -0.25], may_refuse=True)(of_aligned("fp32_to_int32"))
row("fp32_to_int32 beyond its range", values=[NAN, 3e9, -3e9], may_refuse=True)(of_aligned("fp32_to_int32"))


@row("lookup_int32_to_fp32", values="words")
def _(draw):
    shape = draw.shape()
    result, source = draw.place(shape, None), draw.place(shape, None)
    count = shape[0] * shape[1] * shape[2] * shape[3]
    draw.put(source, shape, None, draw.numbers.integers(-128, 128, count, "i4"))
    draw.call("bdc_lookup_int32_to_fp32", result, source, shape)


def int8_to_fp32(is_aligned, is_whole):
    """Bytes of several channels in each core, whose sizes are multiples of 4 bytes if `is_whole`."""
    def make(draw):
        shape = draw.shape(n=3)
        size = 4 * draw.integer(1, 6)
        shape = (shape[0] + 1, shape[1], 1, size if is_whole else size + draw.integer(1, 3))
        stride = None if is_aligned else compact(shape, draw.core)
        result = draw.place(shape, stride, align=128)
        # The vendor's model begins each channel at a multiple of 4 bytes.
        padded = (*shape[:3], -(-shape[3] // 4) * 4)
        place = draw.place(padded, None if is_aligned else compact(padded, draw.core), 1, align=128)
        draw.call("bdc_int8_to_fp32", result, place, draw.work(shape), shape, draw.pick(True, False), is_aligned)
    return make


row("int8_to_fp32 aligned", values="words")(int8_to_fp32(True, False))
row("int8_to_fp32 compact", values="words")(int8_to_fp32(False, True))
row("int8_to_fp32 compact with odd channels", values="words")(int8_to_fp32(False, False))


# --------------------------------------------------------- windows and products

def some_padding(draw, size):
    return draw.pick(0, draw.integer(0, size - 1))


def window(draw, dilates=True, strides=(1, 1, 2, 3), padding_of=some_padding, kernels=(1, 4)):
    """Returns the batches, the input size, kernel, padding, stride, dilation and output size of windows."""
    while True:
        n, h, w = draw.integer(1, 3), draw.integer(1, 20), draw.integer(1, 20)
        kernel = draw.integer(*kernels), draw.integer(*kernels)
        padding = tuple(padding_of(draw, size) for size in (*kernel[:1] * 2, *kernel[1:] * 2))
        stride = draw.pick(*strides), draw.pick(*strides)
        dilation = (draw.integer(1, 3), draw.integer(1, 3)) if dilates else (1, 1)
        sizes = tuple((extent + sum(pads) - (size - 1) * step - 1) // by + 1 for extent, pads, size, step, by in zip(
            (h, w), (padding[:2], padding[2:]), kernel, dilation, stride))
        if min(sizes) > 0:
            return n, (h, w), kernel, padding, stride, dilation, sizes


FAR_STRIDES = {"strides": (16, 17, 20)}
WIDE_PADDING = {"kernels": (17, 20), "padding_of": lambda draw, size: draw.integer(16, size - 1), "dilates": False}


def conv2d(kernel_stride=True, align=8, **options):
    def make(draw):
        n, size, kernel, padding, stride, dilation, out = window(draw, **options)
        c, o = draw.integer(1, 12), draw.pick(draw.integer(1, 8), draw.integer(1, 130))
        shape, pairs = (n, c, *size), (-(-c // 2), o, kernel[0], 2 * kernel[1])
        core, to = draw.integer(0, 63), (n, o, *out)
        input_stride = draw.pick(None, draw.gaps(shape, core))
        result, source = draw.result(to, None), draw.place(shape, input_stride, core=core)
        weights = draw.place(pairs, compact(pairs, draw.core), align=128)
        if align == 4:
            weights = draw.place(pairs, compact(pairs, draw.core), align=128) + 4
            draw.reserve(128)
        vector = (1, o, 1, 1)
        bias = draw.place(vector, compact(vector, draw.core))
        step = compact((pairs[0], o, *kernel), draw.core) if kernel_stride else None
        draw.call("bdc_conv2d", result, source, weights, bias, shape, o, *kernel, input_stride, step,
                  draw.pick(True, False), draw.pick(True, False), padding, stride, dilation)
        draw.round(largest=4e-6)
    return make


row("conv2d")(conv2d())
row("conv2d with strides from 16 on")(conv2d(**FAR_STRIDES))
row("conv2d with padding from 16 on")(conv2d(**WIDE_PADDING))
row("conv2d without strides of the kernel", may_refuse=True)(conv2d(kernel_stride=False))
row("conv2d with weights at 4 mod 8", may_refuse=True)(conv2d(align=4))


def depthwise2d(**options):
    def make(draw):
        n, size, kernel, padding, stride, dilation, out = window(draw, **options)
        c = draw.pick(draw.integer(1, 8), draw.integer(1, 130))
        own, vector = (1, c, *kernel), (1, c, 1, 1)
        result, source = draw.result((n, c, *out), None), draw.place((n, c, *size), None)
        weights, bias = (draw.place(shape, compact(shape, draw.core)) for shape in (own, vector))
        draw.call("bdc_depthwise2d", result, source, weights, bias, (n, c, *size), *kernel, draw.pick(True, False),
                  padding, stride, dilation)
        draw.round(largest=4e-6)
    return make


row("depthwise2d")(depthwise2d())
row("depthwise2d with strides from 16 on")(depthwise2d(**FAR_STRIDES))
row("depthwise2d with padding from 16 on")(depthwise2d(**WIDE_PADDING))


def pool(name, largest=0.0, padded=None, **options):
    options["dilates"] = False

    def make(draw):
        n, size, kernel, padding, stride, _, out = window(draw, **options)
        if padded:
            # The first window has padding alone.
            padding = (kernel[0], 0, padding[2], padding[3])
            out = (size[0] // stride[0] + 1, out[1])
        c = draw.pick(draw.integer(1, 8), draw.integer(1, 130))
        result, source = draw.result((n, c, *out), None), draw.place((n, c, *size), None)
        draw.call(f"bdc_{name}", result, source, (n, c, *size), *kernel, padding, stride)
        draw.round(largest=largest)
    return make


row("avg_pool2d")(pool("avg_pool2d", 4e-6))
row("max_pool2d")(pool("max_pool2d"))
for name, largest in (("avg_pool2d", 4e-6), ("max_pool2d", 0.0)):
    row(f"{name} with strides from 16 on")(pool(name, largest, **FAR_STRIDES))
    row(f"{name} with padding from 16 on")(pool(name, largest, **WIDE_PADDING))
row("max_pool2d of padding alone", may_refuse=True)(pool("max_pool2d", padded=True))


def matmul(is_whole):
    def make(draw):
        m, k, right = draw.integer(1, 6), draw.integer(1, 90), draw.integer(1, 20)
        left = draw.integer(1, min(k, 20))
        n = right * draw.integer(1, 70) if is_whole else right * draw.integer(0, 70) + draw.integer(1, right)
        channels, core = -(-n // right), draw.integer(0, 63)
        to, from_right = (m, channels, 1, right), (k, channels, 1, right)
        result, source = draw.result(to, None), draw.place((m, -(-k // left), 1, left), None, core=core)
        other, bias = draw.place(from_right, None), draw.place((1, channels, 1, right), None)
        draw.call("bdc_matmul", result, source, other, bias, m, k, n, left, right, draw.pick(True, False),
                  draw.pick(True, False))
        draw.round(largest=4e-6)
    return make


row("matmul")(matmul(True))
row("matmul with a last channel that is not full", may_refuse=True)(matmul(False))


# ------------------------------------------------------- strides of unit dims

def far(name, stride):
    """A stride of 2^19 and more of a dim of one index."""
    def make(draw):
        shape = (1, draw.integer(65, 130), 1, draw.integer(1, 16))
        far_stride = (stride + draw.integer(1, 999), *compact(shape, draw.core)[1:])
        places = [draw.place(shape, (0, *far_stride[1:])) for _ in range(3)]
        draw.call(f"bdc_{name}", *places, shape, far_stride, far_stride, far_stride)
    return make


for name in ("add", "mul"):
    row(f"{name} with a stride of 2^19 along one index", may_refuse=True)(far(name, 1 << 19))


@row("conv2d with a stride of 2^19 along one index", may_refuse=True)
def _(draw):
    shape, kernel, o = (1, 4, 5, 5), (3, 3), 8
    pairs = (2, o, 3, 6)
    result, source = draw.result((1, o, 3, 3), None), draw.place(shape, compact(shape, draw.core))
    weights = draw.place(pairs, compact(pairs, draw.core), align=128)
    draw.call("bdc_conv2d", result, source, weights, 0, shape, o, *kernel, ((1 << 19) + 100, 25, 5, 1),
              compact((2, o, *kernel), draw.core), False, False, (0, 0, 0, 0), (1, 1), (1, 1))
    draw.round(largest=4e-6)


# ----------------------------------------------------- what both machines refuse

@row("add of 5000 channels")
def _(draw):
    shape = (1, 5000, 1, 1)
    draw.call("bdc_add", *(draw.place(shape, None) for _ in range(3)), shape, None, None, None)


@row("transfer with a stride of 2 along w")
def _(draw):
    shape = (1, 4, 2, 8)
    stride = draw.gaps(shape, draw.core, 2)
    draw.call("gdma_32bit_cpy_L2S", draw.system(256, 4), draw.place(shape, stride), shape, None, stride)


@row("add at an address that is not a multiple of 4")
def _(draw):
    shape = (1, 2, 1, 4)
    draw.call("bdc_add", *(draw.place(shape, None) + 2 for _ in range(3)), shape, *[compact(shape, draw.core)] * 3)


@row("exp at an address that is not aligned")
def _(draw):
    shape = (1, 2, 1, 4)
    draw.call("bdc_exp", draw.place(shape, None) + 4, draw.place(shape, None), draw.work(shape), shape)
