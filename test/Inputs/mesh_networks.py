"""usage: mesh_networks.py NETWORK RANKS..

Runs a small network on so many ranks, by the command of users, which fails where results differ from one
process or other bytes are sent than planned. Links that cost nothing make the decision split what it can.
"""

import re
import subprocess
import sys

network, *counts = sys.argv[1:]
for ranks in map(int, counts):
    target = (f"#layout.mesh_target<axes = [x = {ranks}], device = #layout.cpu<lanes = 16>, byte_cost = [0], "
              "message_cost = [0]>")
    done = subprocess.run([sys.executable, "-m", "demo", network, "--small", "--device", "mesh", "--ranks", str(ranks),
                           "--target", target, "--repeat", "1", "--threads", "1"], text=True, capture_output=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    sent, planned, messages = map(int, re.search(r"wire +(\d+) of (\d+) planned, in (\d+)", done.stdout).groups())
    assert sent == planned and (messages > 0) == (ranks > 1)
