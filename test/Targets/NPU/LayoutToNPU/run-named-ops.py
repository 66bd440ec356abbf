# RUN: rm -rf %t && mkdir -p %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check each named elementwise linalg op, as a named op, as linalg.elementwise and as linalg.generic: it has functions
# and gives numpy's results.
# CHECK: 20 run
import pathlib
import sys

import numpy as np

from layout_mlir import LayoutError, npu
from layout_mlir.tools import ToolError, run_tool

folder = pathlib.Path(sys.argv[1])
random = np.random.default_rng(19)
TARGET = '#layout.npu<chip = #npu.target<"BM1684X">>'
SHAPES = [(2, 67, 5, 3), (3, 70), (1, 1, 9), (0, 4)]


def erf(x):
    """Evaluates erf by its Taylor series, for arguments of at most 3."""
    x = x.astype(np.float64)
    term = total = x
    for n in range(1, 60):
        term = term * -x * x / n
        total = total + term / (2 * n + 1)
    return 2 / np.sqrt(np.pi) * total


# The numpy function.
UNARY = {"abs": np.abs, "negf": np.negative, "exp": np.exp, "sqrt": np.sqrt, "tanh": np.tanh, "erf": erf,
         "reciprocal": np.reciprocal, "rsqrt": lambda x: 1 / np.sqrt(x), "square": np.square, "log": np.log,
         "ceil": np.ceil, "floor": np.floor, "round": np.round}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum,
          "min": np.minimum, "powf": np.power}


def make(name, form, inputs):
    """Returns a function of one op."""
    kind = f"tensor<{'x'.join(map(str, inputs[0].shape))}xf32>"
    kind_name = {"max": "max_signed", "min": "min_signed"}.get(name, name)
    op = f"linalg.elementwise kind=#linalg.elementwise_kind<{kind_name}>" if form == "elementwise" else f"linalg.{name}"
    operands = ", ".join(f"%x{i}" for i in range(len(inputs)))
    source = folder / "source.mlir"
    source.write_text(f"""func.func @main({", ".join(f"%x{i}: {kind}" for i in range(len(inputs)))}) -> {kind} {{
  %e = tensor.empty() : {kind}
  %r = {op} ins({operands} : {", ".join([kind] * len(inputs))}) outs(%e : {kind}) -> {kind}
  return %r : {kind}
}}
""")
    lowered = folder / "lowered.mlir"
    general = ["--linalg-generalize-named-ops"] if form == "generic" else []
    run_tool("layout-opt", source, *general, f"--layout-to-npu=target={{{TARGET}}}", "-o", lowered)
    return lowered


def is_refused(program):
    try:
        run_tool("layout-translate", "--npu-to-package", program, "-o", folder / "refused")
    except (LayoutError, ToolError) as error:
        assert "has no TPU-KERNEL function: no TPU-KERNEL function computes its 'math." in str(error), error
        return True
    return False


ran = 0
for arity, ops in ((1, UNARY), (2, BINARY)):
    for name, of in ops.items():
        positive = name in ("sqrt", "rsqrt", "log", "powf", "reciprocal", "div")
        for number, form in enumerate(("named", "elementwise", "generic", "named")):
            shape = SHAPES[(number + len(name)) % 3] if number < 3 else SHAPES[3]
            inputs = [random.uniform(0.2 if positive else -3, 3, shape).astype(np.float32) for _ in range(arity)]
            program = make(name, form, inputs)
            if number == 3 or form != "named":
                assert not is_refused(program), (name, form)
            else:
                built = npu.Program(program)
                assert built.kernels == 0
                result = built.run(*inputs).outputs[0]
                wanted = of(*inputs)
                assert np.max(np.abs(result - wanted)) <= 3e-6 * max(1, np.abs(wanted).max()), (name, form)
                ran += 1
print(f"{ran} run")
