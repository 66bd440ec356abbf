"""Runs operator tests of the ONNX package as programs of an NPU, for ./dev peers onnx --chip NAME.

The tests are those of one node of an operator in OPERATORS whose tensors have the element types in ELEMENTS. Operands
that state a shape, an axis or a count in a network (PARAMETERS) become constants with their values of the test,
because programs have static sizes. All other operands, e.g. weights, stay inputs.

Each test is lowered by layout-opt (layout-to-npu), compiled, and run in the simulator, and also on the vendor's model
of the chip if that is installed. Programs that need a command that the chip does not have are refused. Results are
compared with those that the test expects: integers exactly, floats with the tolerances of the test or within 1e-5 of
the largest element.
"""

import collections
import pathlib
import re

import numpy as np

from layout_mlir import LayoutError, onnx_import
from layout_mlir.isolated import Crashed, isolated
from layout_mlir.npu import Program
from layout_mlir.run_npu import get_target
from layout_mlir.tools import ToolError
from onnx_cases import SECONDS, Outcome, Stopped, compare, import_case, load_model, run_tool

# Operators of neural networks that classify, detect, segment, recognize, generate and embed, by what they do.
OPERATORS = set("""
    Conv ConvTranspose ConvInteger Gemm MatMul MatMulInteger QLinearConv QLinearMatMul Einsum Attention RotaryEmbedding
    AveragePool GlobalAveragePool GlobalMaxPool LpPool MaxPool
    ReduceL1 ReduceL2 ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare ArgMax ArgMin
    BatchNormalization GroupNormalization InstanceNormalization LayerNormalization LpNormalization LRN
    MeanVarianceNormalization RMSNormalization Softmax LogSoftmax
    Celu Clip Elu Erf Exp Gelu HardSigmoid HardSwish LeakyRelu Log Mish PRelu Relu Selu Sigmoid Softplus Softsign
    SwiGLU Swish Tanh ThresholdedRelu
    Abs Add Ceil Cos Div Floor Max Mean Min Mod Mul Neg Pow Reciprocal Round Sign Sin Sqrt Sub Sum
    And Equal Greater GreaterOrEqual Less LessOrEqual Not Or Where Xor
    Cast DequantizeLinear DynamicQuantizeLinear QuantizeLinear
    Concat DepthToSpace Expand Flatten Gather GatherElements GatherND Identity Pad Reshape Resize Slice SpaceToDepth
    Split Squeeze Tile Transpose Trilu Unsqueeze Upsample
    GRU LSTM RNN
""".split())

# Element types of the inputs and results of networks.
ELEMENTS = {"float32", "float16", "int8", "uint8", "int32", "int64", "bool"}

# Positions of operands that are constants in a network; those of reductions since opset 18 are the second one.
PARAMETERS = {
    "Clip": [1, 2], "Expand": [1], "Pad": [1, 2, 3], "Reshape": [1], "Resize": [1, 2, 3], "Slice": [1, 2, 3, 4],
    "Split": [1], "Squeeze": [1], "Tile": [1], "Trilu": [1], "Unsqueeze": [1], "Upsample": [1],
    "QuantizeLinear": [1, 2], "DequantizeLinear": [1, 2], "QLinearConv": [1, 2, 4, 5, 6, 7],
    "QLinearMatMul": [1, 2, 4, 5, 6, 7], "ConvInteger": [2, 3], "MatMulInteger": [2, 3]}

# Operators that round a quotient to an integer. Quotients of a chip are within 5 units in the last place (docs/npu.md),
# so a quotient next to a half may be rounded to the other integer on the vendor's model.
ROUNDING_OPERATORS = {"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"}

BOUND = 1e-5  # of the largest element, for f32 results that the chip computes
NUMBERS = re.compile(r"\d+")


def select(cases):
    """Returns the cases of `cases` that are tests of one operator of neural networks, by the rule above."""
    def belongs(case):
        if case.model is None:
            return False
        model, sets = load_model(case)
        arrays = [each for inputs, outputs in sets for each in [*inputs, *outputs]]
        return ([node.op_type in OPERATORS and node.domain == "" for node in model.graph.node] == [True]
                and all(getattr(getattr(each, "dtype", None), "name", "") in ELEMENTS for each in arrays))

    return [(kind, case) for kind, case in cases if belongs(case)]


def make_constants(model, inputs):
    """Returns the model with its parameters as constants, and the other inputs."""
    from onnx import numpy_helper

    (node,) = model.graph.node
    places = [1] if node.op_type.startswith("Reduce") else PARAMETERS.get(node.op_type, [])
    names = {node.input[place] for place in places if place < len(node.input)} - {""}
    values = [value for value in model.graph.input]
    kept = [(value, array) for value, array in zip(values, inputs) if value.name not in names]
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), value.name)
                                   for value, array in zip(values, inputs) if value.name in names)
    del model.graph.input[:]
    model.graph.input.extend(value for value, _ in kept)
    return model, [array for _, array in kept]


def run_program(module, inputs, folder):
    """Returns the results of a lowered module by machine. Runs isolated."""
    program = Program(module, folder=folder)
    arrays = [np.asarray(array, order="C") for array in inputs]
    arrays = [array.view(np.int8) if array.dtype == np.uint8 else array for array in arrays]
    results = {"the simulator": program.run(*arrays).outputs}
    if program.has_chip_model():
        results["the vendor's model"] = program.run(*arrays, on="vendor").outputs
    return results


def differs(result, expected, case, rounds=False):
    """Returns None if a result is the expected one, or a description of the difference. With `rounds`, integers may
    differ by one."""
    expected = np.asarray(expected)
    if expected.dtype == np.uint8 and result.dtype == np.int8:
        result = result.view(np.uint8)
    if expected.dtype.kind == "f" and result.shape == expected.shape:
        finite = np.isfinite(expected)
        bound = BOUND * np.abs(expected[finite].astype(np.float64)).max(initial=0)
        near = np.abs(result.astype(np.float64) - np.where(finite, expected, 0)) <= bound
        result = np.where(near & finite, expected, result)
    if rounds and expected.dtype.kind in "iu" and result.shape == expected.shape:
        result = np.where(np.abs(result.astype(int) - expected) <= 1, expected, result)
    return compare(result, expected, case)


class ChipRunner:
    """Runs cases on a chip, with the tools in the directory of layout-opt."""

    def __init__(self, layout_opt, folder, chip):
        self.tools, self.folder = pathlib.Path(layout_opt).resolve().parent, folder / chip
        self.target = get_target(chip)

    def run_case(self, kind, case):
        """Returns the outcome of one case, whose runners are the machines that it ran on."""
        model, sets = load_model(case)
        (node,) = model.graph.node
        runners = []

        def outcome(status, reason=""):
            return Outcome(kind, case.name, [node.op_type], runners, status, reason)

        try:
            for inputs, outputs in sets:
                runners = self.run_set(*make_constants(model, inputs), outputs, case)
        except (onnx_import.ImportFailed, Crashed) as error:
            return outcome("not imported" if isinstance(error, onnx_import.ImportFailed) else "crashed", str(error))
        except LayoutError as error:  # of a machine, as for a rule of the chip that the program violates
            return outcome("differs", str(error))
        except ToolError as error:
            return outcome("refused", describe_refusal(str(error), model))
        except Stopped as stopped:
            status, reason = stopped.args
            return outcome(status, describe_refusal(reason, model) if status == "refused" else reason)
        return outcome("matched")

    def run_set(self, model, inputs, outputs, case):
        """Runs one data set and returns the machines that it ran on; raises Stopped if results differ."""
        folder = self.folder / case.name
        folder.mkdir(parents=True, exist_ok=True)
        source, lowered = folder / "source.mlirbc", folder / "lowered.mlirbc"
        source.write_bytes(isolated(import_case, model, seconds=SECONDS)[1])
        run_tool(self.tools, "layout-opt", source, f"--layout-to-npu=target={{{self.target}}}", "--emit-bytecode", "-o",
                 lowered)
        results = isolated(run_program, lowered, inputs, folder, seconds=SECONDS)
        for machine, arrays in results.items():
            for number, (result, expected) in enumerate(zip(arrays, outputs, strict=True)):
                rounds = machine != "the simulator" and model.graph.node[0].op_type in ROUNDING_OPERATORS
                if difference := differs(result, expected, case, rounds):
                    raise Stopped("differs", f"{machine}: result {number}: {difference}")
        return list(results)


def describe_refusal(message, model):
    """Returns the first error of a tool in the terms of a model: the node that it is about, with its operator."""
    lines = message.splitlines()
    text = next((line for line in lines if "error: " in line), lines[0]).split("error: ")[-1]
    place = re.search(r'loc\("([^"]*)"\)', message)
    names = place[1].split("/") if place else []
    # Inner nodes of an operator have the name of its output before a slash.
    for name in ("/".join(names[:count]) for count in range(len(names), 0, -1)):
        for node in model.graph.node:
            if name and name in (node.name, *node.output):
                return f"node '{name}' ({node.op_type}): " + re.sub(r'^loc\("[^"]*"\): ', "", text)
    return text


def summarize(message):
    """Returns a refusal without what is particular to a test: nodes, values and sizes."""
    text = re.sub(r"^node '.*?' \(\w+\): ", "", message)
    text = re.sub(r"tensor<[^>]*>|memref<.*>", "T", text)
    return NUMBERS.sub("N", re.sub(r"'%[^']*'|%\w+|\[[^\]]*\]", "..", text))[:160]


def report(outcomes, chip, seconds):
    """Prints failures, refusals by reason, and counts; returns the exit status."""
    counts = collections.Counter(outcome.status for outcome in outcomes)
    for outcome in outcomes:
        if outcome.status != "matched":
            print(f"{outcome.status}: {outcome.name}: {outcome.reason}")
    reasons = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        if outcome.status == "refused":
            reasons[summarize(outcome.reason)].update(outcome.operators)
    for reason, operators in sorted(reasons.items(), key=lambda each: -each[1].total()):
        names = ", ".join(f"{count} {name}" for name, count in operators.most_common())
        print(f"{operators.total()} refused: {reason} ({names})")
    vendor = sum("the vendor's model" in outcome.runners for outcome in outcomes)
    print(f"{chip}: {len(outcomes)} cases in {seconds:.0f} s: {counts['matched']} matched ({vendor} on the vendor's "
          f"model too), {counts['refused']} refused, {counts['not imported']} not imported, {counts['crashed']} "
          f"crashed, {counts['differs']} differ")
    return 1 if counts["crashed"] or counts["differs"] else 0
