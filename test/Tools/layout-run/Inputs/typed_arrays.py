"""usage: typed_arrays.py STEM: writes STEM.<dtype>.npy, arrays of 2x3 in uncommon dtypes."""
import sys

import numpy as np


def save(name, array, descr=None):
    path = f"{sys.argv[1]}.{name}.npy"
    np.save(path, array)
    if descr:  # as libraries with their own types write it
        with open(path, "r+b") as file:
            content = file.read()
            old = content.index(b"'descr': '") + 10
            file.seek(old)
            file.write(descr.encode())


random = np.random.default_rng(0)
unsigned = random.integers(0, 2**16, (2, 3)).astype("u2")
save("b1", random.integers(0, 2, (2, 3)).astype(bool))
save("u1", unsigned.astype("u1"))
save("v1", unsigned.astype("u1"), "<V1")
save("u2", unsigned)
save("u2-as-i2", unsigned.view("i2"))
save("i1", np.full((2, 3), 8, "i1"))
save("i2", np.array([[-2, -1, 0], [1, 0, -2]], "i1"))
save("ui2", np.array([[3, 2, 0], [1, 0, 3]], "u1"))
save("f4", np.array([[15, 8, 0], [7, 1, 9]], "u1"))
save("u4", np.full((2, 3), 4, "u1"))
save("u16", np.full((2, 3), 16, "u1"))
save("i4", np.array([[-8, -1, 0], [1, 6, 7]], "i1"))
save("i8", random.integers(-2**62, 2**62, (2, 3)))
save("u8", random.integers(2**63, 2**64, (2, 3), dtype="u8"))
save("u8-as-i8", np.load(f"{sys.argv[1]}.u8.npy").view("i8"))
save("c8", (random.random((2, 3)) + 1j * random.random((2, 3))).astype("c8"))
save("c16", random.random((2, 3)) - 1j * random.random((2, 3)))
save("badbool", np.full((2, 3), 2, "u1"), "|b1")
# 1, -2, 0.5, 96, -infinity and 2^-125, and half of each.
save("v2", np.array([[0x3F80, 0xC000, 0x3F00], [0x42C0, 0xFF80, 0x0100]], "u2"), "<V2")
save("halved", np.array([[0x3F00, 0xBF80, 0x3E80], [0x4240, 0xFF80, 0x0080]], "u2"))
