# RUN: rm -rf %t && mkdir -p %t
# RUN: %host_cxx -shared -Wl,--whole-archive %layout_obj_root/lib/libLayoutNpuSimulator.a -Wl,--no-whole-archive -o %t/okk.so
# RUN: %python %s %t/okk.so | FileCheck %s
# Check that the simulator refuses commands whose shapes, strides or addresses the chip's registers or functions do not
# take, that it accepts the largest ones, and the bytes that functions with strides of their own reach.
# CHECK: limits: 18 of 18
# CHECK: bytes: 5 of 5
import ctypes
import sys

import numpy as np

UNITS, BYTES, EU = 4, 1 << 20, 128
MOST = 524287
okk = ctypes.CDLL(sys.argv[1])
okk.okk_sim_alloc.restype = ctypes.c_ulonglong
okk.okk_sim_alloc.argtypes = [ctypes.c_ulonglong]
for host in (okk.okk_sim_write, okk.okk_sim_read):
    host.argtypes = [ctypes.c_ulonglong, ctypes.c_void_p, ctypes.c_ulonglong]
okk.okk_gdma_32bit_cpy_S2L.argtypes = [ctypes.c_uint, ctypes.c_ulonglong] + [ctypes.c_void_p] * 3
okk.okk_gdma_8bit_cpy_S2S.argtypes = [ctypes.c_ulonglong] * 2 + [ctypes.c_void_p] * 3
okk.okk_gdma_32bit_matrix_S2L.argtypes = [ctypes.c_uint, ctypes.c_ulonglong] + [ctypes.c_int] * 4
okk.okk_gdma_32bit_matrix_L2S.argtypes = [ctypes.c_ulonglong, ctypes.c_uint] + [ctypes.c_int] * 4
okk.okk_sim_error.restype = ctypes.c_char_p


class Word(ctypes.Union):
    _fields_ = [("u32", ctypes.c_uint)]


class Half(ctypes.Union):
    _fields_ = [("u16", ctypes.c_ushort)]


class Byte(ctypes.Union):
    _fields_ = [("u8", ctypes.c_ubyte)]


def sizes(*values):
    return ctypes.byref((ctypes.c_int * len(values))(*values))


def errors():
    return [okk.okk_sim_error(i).decode() for i in range(okk.okk_sim_num_errors())]


def open_chip():
    """Opens a chip whose cores have written words from byte 0 to 65536."""
    okk.okk_sim_open(UNITS, BYTES, EU)
    okk.okk_sim_limit_compute(MOST)
    okk.okk_gdma_32bit_set_C_local(0, Word(1), sizes(1, UNITS, 1, 16384), None)


def relu(shape, stride):
    okk.okk_bdc_relu(0, 0, sizes(*shape), sizes(*stride), sizes(*stride))


def conv(stride=(1, 1), dilation=(1, 1), padding=None, weights=32768, kernel=sizes(1, 1, 1, 1), taps=1):
    okk.okk_bdc_conv2d(65536, 0, weights, 0, sizes(1, 2, 20, 20), 2, taps, 1, None, kernel, False, False,
                       padding and sizes(*padding), sizes(*stride), sizes(*dilation))


def depthwise(stride=(1, 1), dilation=(1, 1), padding=None):
    okk.okk_bdc_depthwise2d(65536, 0, 32768, 0, sizes(1, 2, 20, 20), 1, 1, False, padding and sizes(*padding),
                            sizes(*stride), sizes(*dilation))


def pool(name, stride=(1, 1), padding=None):
    getattr(okk, f"okk_bdc_{name}_pool2d")(65536, 0, sizes(1, 2, 20, 20), 16, 16, padding and sizes(*padding),
                                           sizes(*stride))


def copy(shape):
    x = okk.okk_sim_alloc(70000)
    okk.okk_sim_write(x, bytes(70000), 70000)
    okk.okk_gdma_8bit_cpy_S2S(okk.okk_sim_alloc(70000), x, sizes(*shape), None, None)


# The command, and what the report says, or None for a command that runs.
LIMITS = [
    (lambda: relu((1, 2, 1, 4), (MOST, MOST, MOST + 1, 1)), None),
    (lambda: relu((1, 2, 1, 4), (MOST + 1, 4, 4, 1)), "has the N stride 524288, but the execution units support 0 to "
                                                      "524287, even for a loop with one iteration"),
    (lambda: relu((2, 2, 1, 4), (4, MOST + 1, 4, 1)), "has the C stride 524288"),
    (lambda: copy((1, 1, 1, 65535)), None),
    (lambda: copy((1, 1, 1, 65536)), "has 65536 iterations of W, but the chip supports 1 to 65535"),
    (lambda: copy((65536, 1, 1, 1)), "has 65536 iterations of N"),
    (lambda: okk.okk_gdma_32bit_set_C_local(0, Word(1), sizes(1, 1, 1, 75845), None), "has 75845 iterations of W"),
    (lambda: conv((15, 15), (16, 16), (15, 15, 15, 15)), None),
    (lambda: conv((16, 1)), "okk_bdc_conv2d: strides must be at most 15, found 16"),
    (lambda: conv(dilation=(1, 17)), "okk_bdc_conv2d: dilations must be at most 16, found 17"),
    (lambda: conv(padding=(0, 0, 16, 0)), "okk_bdc_conv2d: paddings must be at most 15, found 16"),
    (lambda: conv(weights=32772), "the weights at address 32772 are not aligned to the 8 bytes of a pair"),
    (lambda: conv(kernel=None), "kernel_stride is null"),
    (lambda: depthwise((15, 15), (16, 16), (15, 15, 15, 15)), None),
    (lambda: depthwise((1, 16)), "okk_bdc_depthwise2d: strides must be at most 15"),
    (lambda: depthwise(dilation=(17, 1)), "okk_bdc_depthwise2d: dilations must be at most 16"),
    (lambda: pool("avg", (16, 1)), "okk_bdc_avg_pool2d: strides must be at most 15"),
    (lambda: pool("max", padding=(0, 0, 0, 16)), "okk_bdc_max_pool2d: paddings must be at most 15"),
]


def limits():
    good = 0
    for number, (command, why) in enumerate(LIMITS):
        open_chip()
        command()
        found = errors()
        right = not found if why is None else len(found) == 1 and why in found[0]
        good += right
        if not right:
            print(f"case {number}: wanted {why}, found {found}")
    print(f"limits: {good} of {len(LIMITS)}")


def word(core, byte):
    octets = [okk.okk_sim_local_byte(core, byte + i) for i in range(4)]
    return None if -1 in octets else np.array(octets, np.uint8).view(np.float32)[0]


def matrix(start):
    """Returns the bytes of column 0 of row 1 of a 2x10 matrix in channels of 5 columns."""
    okk.okk_sim_open(UNITS, 4096, EU)
    data = np.arange(20, dtype=np.float32)
    x, y = okk.okk_sim_alloc(80), okk.okk_sim_alloc(80)
    okk.okk_sim_write(x, data.ctypes.data, 80)
    okk.okk_gdma_32bit_matrix_S2L(start * 4096, x, 2, 10, 5, 10)
    okk.okk_gdma_32bit_matrix_L2S(y, start * 4096, 2, 10, 5, 10)
    back = np.zeros(20, np.float32)
    okk.okk_sim_read(y, back.ctypes.data, 80)
    return [byte for byte in range(0, 512, 4) if word(start, byte) == 10], (back == data).all(), not errors()


def fill_bytes(function, value):
    """Returns the bytes of core 0 that a fill of two channels in it writes, from null strides."""
    okk.okk_sim_open(1, 4096, EU)
    function(0, value, sizes(1, 2, 1, 3), None)
    return [byte for byte in range(4096) if okk.okk_sim_local_byte(0, byte) >= 0], not errors()


def product(last):
    """Multiplies ones, 2x3 and 3x8, in channels of 5 columns; reads `last` columns of the last channel."""
    okk.okk_sim_open(UNITS, 4096, EU)
    ones = np.ones(64, np.float32)
    x, y = okk.okk_sim_alloc(256), okk.okk_sim_alloc(256)
    okk.okk_sim_write(x, ones.ctypes.data, 256)
    okk.okk_gdma_32bit_cpy_S2L(0, x, sizes(2, 1, 1, 3), None, None)
    okk.okk_gdma_32bit_cpy_S2L(512, x, sizes(3, 2, 1, 5), None, None)
    okk.okk_gdma_32bit_cpy_S2L(1024, x, sizes(2, 2, 1, 5), None, None)
    okk.okk_bdc_matmul(1024, 0, 512, 0, 2, 3, 8, 3, 5, False, False)
    okk.okk_gdma_32bit_cpy_L2S(ctypes.c_ulonglong(y), 1024 + 4096, sizes(2, 1, 1, last), None, sizes(32, 32, 5, 1))
    return word(1, 1024 + 8), word(1, 1024 + 12), word(1, 1024 + 128 + 12), [error.split(",")[0] for error in errors()]


def octets():
    spread = [byte for first in (0, 32) for byte in range(first, first + 3)]
    halves = [byte for first in (0, 64) for byte in range(first, first + 6)]
    found = [
        (matrix(0), ([128], True, True)),
        (matrix(3), ([128], True, True)),
        (fill_bytes(okk.okk_gdma_8bit_set_C_local, Byte(7)), (spread, True)),
        (fill_bytes(okk.okk_gdma_16bit_set_C_local, Half(7)), (halves, True)),
        ((product(3), product(4)), ((3, None, None, []), (3, None, None, ["the source reads byte 1036 of core 1"]))),
    ]
    for got, want in found:
        if got != want:
            print(f"wanted {want}, found {got}")
    print(f"bytes: {sum(got == want for got, want in found)} of {len(found)}")


limits()
octets()
