"""Checks run-half.mlir against numpy: half.py X.npy Y.npy."""

import sys

import numpy as np

x, y = (np.load(path) for path in sys.argv[1:])
v = x.reshape(16, 4).astype("f4") * np.float32(1.5)
v += 3 * np.array([1, 2, 0.5, -1.5], "f4")
v = np.where(x.reshape(16, 4)[:, :1] < 0, np.exp(v), v)
v[:, 0] = v.sum(axis=1)
expected = v.astype("f2").reshape(64)
assert y.dtype == np.float16
# One unit in the last place: exp may be rounded differently.
np.testing.assert_allclose(y.astype("f4"), expected.astype("f4"), rtol=1e-3)
