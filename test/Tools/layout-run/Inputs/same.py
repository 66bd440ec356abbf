"""usage: same.py A.npy B.npy...: checks that the files of each pair are equal, including their dtype."""
import sys

import numpy as np

for a, b in zip(sys.argv[1::2], sys.argv[2::2]):
    x, y = np.load(a), np.load(b)
    assert x.dtype == y.dtype and x.shape == y.shape and (x == y).all(), (a, b)
