"""Extracts the prompt from decoded tokens.

usage: decode.py TOKENS.npy IDS.npy

The prompt is all but the last token, whose logits the last step of the loop computed.
"""

import sys

import numpy as np

tokens = np.load(sys.argv[1])
if len(set(tokens[0])) < 3:
    sys.exit(f"too few different tokens to say anything: {tokens}")
np.save(sys.argv[2], tokens[:, :-1])
