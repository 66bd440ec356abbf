"""./dev bench: the CPU kernels of benchmarks/, each beside plain loops; then layouts of networks.

`./dev bench --kernel=NAME` is some of the first part, `--assignment` the second part alone,
`--conversions` conversions beside memcpy and beside oneDNN, `--decode` products with one vector beside the bandwidth of memory, `--dynamic` networks with open sizes beside
the same ones with static sizes, `--images` the conversions that networks
need on a device with images, `--target` the figures of this machine
that prices of layouts are made of, `--instructions` what kernels for a device with images do beside
their arithmetic, `--vectorize` the kernels beside upstream's tile-and-vectorize,
`--iree` what IREE makes of layouts applied as upstream's ops, `--mace FOLDER` kernels for images beside MACE's,
`--mesh` networks over devices, beside plans by hand,
`--npu` networks on NPUs in the simulator, with prices as they were and as they are,
`--opencl` networks on an OpenCL device, with kernels as they were and as they are,
`--peers` networks beside other runtimes,
`--prices` whether ops that are priced higher run longer, `--untouched` whether layouts make a network slower,
`--budget` a language model's time over the memory of its weights, `--calibrate` a price list of this machine, `--candidates` what networks cost with twice the candidates,
`--scaling` how networks would run on many cores, `--certificates` proofs of the decisions on networks, checked, `--wide` what the solver makes of wide problems, `--solvers` such problems beside other solvers;
with `--help` all show their options.
"""

import importlib
import sys

from . import assignment, kernels

# Options that name a module; some of these need packages that others do not.
PARTS = ("--assignment", "--budget", "--calibrate", "--candidates", "--certificates", "--conversions", "--decode", "--dynamic", "--images", "--instructions", "--iree", "--mace", "--mesh", "--npu", "--opencl", "--peers", "--prices", "--scaling",
         "--solvers", "--target", "--untouched", "--vectorize", "--wide")


def main(argv):
    # Those are for the C++ programs that run after this one.
    argv = [arg for arg in argv if not arg.startswith("--benchmark_")]
    # The first one decides: others may be options of that part, as the target of --untouched is.
    for number, name in enumerate(argv):
        if name in PARTS:
            part = importlib.import_module(f".{name.strip('-')}", __package__)
            return part.main(argv[:number] + argv[number + 1:])
    status = kernels.main(argv)
    if any(arg.startswith("--kernel") for arg in argv):
        return status
    print()
    return assignment.main([]) or status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
