# Check that at full size no kernel of ResNet-50 and BERT has both few work-items and many reads in each: long
# reductions with few results are shared by the work-items of a work-group.

# REQUIRES: target-opencl
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
import pathlib
import re
import subprocess
import sys

from layout_mlir.tools import run_tool_for_all

folder = pathlib.Path(sys.argv[1])
KERNEL = re.compile(r'"kernel (\w+): (\d+) image reads.* and (\d+) buffer reads.* for each of (\d+)')
for network in "resnet50", "bert_base":
    path = folder / f"{network}.mlir"
    subprocess.run([sys.executable, "-m", "networks", network, "--weights", "splat", "-o", path], check=True)
    _, remarks = run_tool_for_all("layout-opt", path, "--layout-to-opencl=target={#layout.opencl} kernels-only", "-o", folder / "kernels.mlir",
                                  "--remarks-filter=convert-layout-to-gpu", "--remark-format=emitRemark")
    kernels = [(name, int(images) + int(buffers), int(items)) for name, images, buffers, items in KERNEL.findall(remarks)]
    assert len(kernels) == remarks.count('"kernel ') > 50, remarks
    idle = [each for each in kernels if each[1] > 512 and each[2] < 1024]
    assert not idle, idle
    assert "in groups of" in remarks, remarks
