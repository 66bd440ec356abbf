"""usage: bad_npy.py DIRECTORY: writes files that @main of the test does not accept."""
import os
import sys

import numpy as np


def path(name):
    return os.path.join(sys.argv[1], name + ".npy")


good = np.arange(6, dtype="f4").reshape(2, 3)
np.save(path("good"), good)
np.save(path("dtype"), good.astype("f8"))
np.save(path("unsigned"), good.astype("u1"))
np.save(path("big"), good.astype(">f4"))
np.save(path("records"), np.zeros(2, [("a", "f4")]))
np.save(path("shape"), good.reshape(3, 2))
np.save(path("rank"), good.reshape(6))
np.save(path("fortran"), np.asfortranarray(good))

data = open(path("good"), "rb").read()
for name, content in {
        "truncated": data[:-1],
        "longer": data + b"\0",
        "short_header": data[:40],
        "magic": b"not an array",
        "version": data[:6] + b"\x09" + data[7:],
        "key": data.replace(b"'shape'", b"'shade'"),
        "huge": data.replace(b"(2, 3)", b"(9223372036854775807, 3)"),
        "negative": data.replace(b"(2, 3)", b"(2,-3)"),
        # Version 2 has a longer length field, and is valid.
        "v2": data[:6] + b"\x02\x00" + data[8:10] + b"\0\0" + data[10:]}.items():
    with open(path(name), "wb") as file:
        file.write(content)
