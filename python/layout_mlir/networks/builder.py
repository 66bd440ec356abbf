"""Writes a network as MLIR: linalg named operations on tensors.

A Builder holds one public function @main. Each method appends the operations of
one layer and returns its value; the layer's name is the location of the
operations and the stem of their SSA names and weights.

    b = Builder("tiny", batch=None, seed=0)       # None: the batch is dynamic
    x = b.input((3, 32, 32))
    x = b.relu(b.conv(x, 16, kernel=3, padding=1, name="conv1", bias=True), "relu1")
    b.output(b.linear(b.flatten(b.global_average_pool(x, "pool"), "flat"), 10, "fc"))
    b.write(file)

Activations are NCHW, filters OIHW. Weights are drawn per tensor from a generator
seeded by (seed, name), so they depend neither on the order of the layers nor on
how batch norm is written; they are scaled so that activations keep their size.
They are stored as dense resources, whose text is one hexadecimal blob.
"""

import zlib
from collections import namedtuple

import numpy as np

# Extents as in the type, None for the dynamic batch.
Value = namedtuple("Value", ["name", "shape"])

_MAPS = {
    "nchw": "(n, c, h, w) -> (n, c, h, w)",
    "channel": "(n, c, h, w) -> (c)",
    "row": "(n, c) -> (n, c)",
    "column": "(n, c) -> (c)",
}

# Of a resource's blob: its first four bytes hold the alignment.
_BLOB_ALIGNMENT = (64).to_bytes(4, "little").hex()


def tensor_type(shape, element="f32"):
    return "tensor<" + "".join(f"{'?' if d is None else d}x" for d in shape) + element + ">"


class Builder:
    def __init__(self, name, batch=1, seed=0, bn="folded", runnable=False):
        self.name = name
        self.batch = batch
        self.seed = seed
        self.bn_mode = bn
        self.runnable = runnable
        self.weights = {}  # resource name -> array
        self._constants = []
        self._body = []
        self._maps = set()
        self._scalars = {}
        self._argument = None
        self._result = None

    # ---------------------------------------------------------------- weights

    def _generator(self, name):
        return np.random.default_rng([self.seed, zlib.crc32(name.encode())])

    def normal(self, name, shape, deviation):
        draw = self._generator(name).standard_normal(shape, dtype=np.float32)
        return draw * np.float32(deviation)

    def uniform(self, name, shape, low, high):
        return self._generator(name).uniform(low, high, shape).astype(np.float32)

    def constant(self, name, array):
        """A weight: an arith.constant with the resource `name`."""
        if name in self.weights:
            raise ValueError(f"two weights are called {name}")
        self.weights[name] = np.ascontiguousarray(array, dtype="<f4")
        value = Value("%" + name.replace(".", "_"), array.shape)
        self._constants.append(f"{value.name} = arith.constant dense_resource<{name}> : "
                               f"{tensor_type(array.shape)}")
        return value

    def _scalar(self, stem, text):
        if text not in self._scalars:
            self._scalars[text] = "%" + stem
            self._constants.append(f"%{stem} = arith.constant {text}")
        return self._scalars[text]

    # ------------------------------------------------------------------- text

    def _emit(self, layer, result, operation, shape=None):
        """Appends `result = operation` at the location of the layer."""
        self._body.append(f'{result} = {operation} loc("{layer}")')
        return Value(result, shape)

    def _map(self, name):
        self._maps.add(name)
        return "#" + name

    def _empty(self, layer, shape, suffix="init"):
        result = f"%{layer.replace('.', '_')}_{suffix}"
        dynamic = "%batch" if shape and shape[0] is None else ""
        return self._emit(layer, result, f"tensor.empty({dynamic}) : {tensor_type(shape)}", shape)

    def _filled(self, layer, shape, scalar):
        init = self._empty(layer, shape)
        type_ = tensor_type(shape)
        return self._emit(layer, init.name.replace("_init", "_fill"),
                          f"linalg.fill ins({scalar} : f32) outs({init.name} : {type_}) -> {type_}",
                          shape)

    def _elementwise(self, layer, operands, maps, lines, yielded):
        """A linalg.generic over the first operand's shape; the block arguments
        are %in0, %in1, ..."""
        shape = operands[0].shape
        init = self._empty(layer, shape)
        maps = ", ".join(self._map(m) for m in [*maps, maps[0]])
        iterators = ", ".join(['"parallel"'] * len(shape))
        arguments = ", ".join(f"%in{i}: f32" for i in range(len(operands)))
        body = "".join(f"\n      {line}" for line in lines)
        return self._emit(
            layer, "%" + layer.replace(".", "_"),
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
            f"ins({', '.join(o.name for o in operands)} : "
            f"{', '.join(tensor_type(o.shape) for o in operands)}) "
            f"outs({init.name} : {tensor_type(shape)}) {{\n"
            f"    ^bb0({arguments}, %out: f32):{body}\n"
            f"      linalg.yield {yielded} : f32\n"
            f"    }} -> {tensor_type(shape)}", shape)

    def _pad(self, layer, x, padding, scalar):
        if padding == 0:
            return x
        n, c, h, w = x.shape
        shape = (n, c, h + 2 * padding, w + 2 * padding)
        return self._emit(
            layer, f"%{layer.replace('.', '_')}_pad",
            f"tensor.pad {x.name} low[0, 0, {padding}, {padding}] "
            f"high[0, 0, {padding}, {padding}] {{\n"
            f"    ^bb0(%pn: index, %pc: index, %ph: index, %pw: index):\n"
            f"      tensor.yield {scalar} : f32\n"
            f"    }} : {tensor_type(x.shape)} to {tensor_type(shape)}", shape)

    def _window(self, layer, operation, x, window, shape, stride, fill):
        """A named operation with a window that slides over the two last dims."""
        init = self._filled(layer, shape, fill)
        return self._emit(
            layer, "%" + layer.replace(".", "_"),
            f"linalg.{operation} {{dilations = dense<1> : vector<2xi64>, "
            f"strides = dense<{stride}> : vector<2xi64>}} "
            f"ins({x.name}, {window.name} : {tensor_type(x.shape)}, {tensor_type(window.shape)}) "
            f"outs({init.name} : {tensor_type(shape)}) -> {tensor_type(shape)}", shape)

    @staticmethod
    def _slid(x, kernel, stride, layer):
        h, w = ((size - kernel) // stride + 1 for size in x.shape[2:])
        if h <= 0 or w <= 0:
            raise ValueError(f"{layer}: a window of {kernel} does not fit into "
                             f"{x.shape[2]}x{x.shape[3]}; take a larger image")
        return h, w

    def _zero(self):
        return self._scalar("zero", "0.000000e+00 : f32")

    # ----------------------------------------------------------------- layers

    def input(self, shape):
        self._argument = Value("%input", (self.batch, *shape))
        return self._argument

    def output(self, value):
        self._result = value

    def conv(self, x, channels, kernel, name, stride=1, padding=0, depthwise=False,
             bias=False, gain=2.0, scale=None, shift=None):
        """A convolution. `gain` / fan-in is the variance of the weights: 2 before
        a ReLU, 1 before none. `scale` and `shift` per output channel are
        multiplied into the weights and added as bias (a folded batch norm)."""
        n, c = x.shape[:2]
        if depthwise and channels != c:
            raise ValueError(f"{name}: a depthwise convolution keeps the {c} channels")
        filter_shape = (c, kernel, kernel) if depthwise else (channels, c, kernel, kernel)
        fan_in = kernel * kernel * (1 if depthwise else c)
        weight = self.normal(name + ".weight", filter_shape, np.sqrt(gain / fan_in))
        if scale is not None:
            weight = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
        if bias:
            shift = self.normal(name + ".bias", (channels,), 0.1)
        padded = self._pad(name, x, padding, self._zero())
        shape = (n, channels, *self._slid(padded, kernel, stride, name))
        y = self._window(name, "depthwise_conv_2d_nchw_chw" if depthwise else "conv_2d_nchw_fchw",
                         padded, self.constant(name + ".weight", weight), shape, stride,
                         self._zero())
        if shift is None:
            return y
        return self._elementwise(
            name + ".add", [y, self.constant(name + ".bias", shift)], ["nchw", "channel"],
            ["%sum = arith.addf %in0, %in1 : f32"], "%sum")

    def conv_bn(self, x, channels, kernel, conv_name, bn_name, branch_gain=1.0, **conv):
        """A convolution and its batch norm, folded into it or as operations of
        its own, with the same weights either way."""
        scale = self.uniform(bn_name + ".scale", (channels,), 0.8, 1.2) * np.float32(branch_gain)
        shift = self.normal(bn_name + ".shift", (channels,), 0.1)
        if self.bn_mode == "folded":
            return self.conv(x, channels, kernel, conv_name, scale=scale, shift=shift, **conv)
        return self.bn(self.conv(x, channels, kernel, conv_name, **conv), bn_name, scale, shift)

    def bn(self, x, name, scale, shift):
        operands = [x, self.constant(name + ".scale", scale), self.constant(name + ".shift", shift)]
        return self._elementwise(name, operands, ["nchw", "channel", "channel"],
                                 ["%scaled = arith.mulf %in0, %in1 : f32",
                                  "%shifted = arith.addf %scaled, %in2 : f32"], "%shifted")

    def relu(self, x, name):
        zero = self._zero()
        return self._elementwise(name, [x], ["nchw"],
                                 [f"%max = arith.maximumf %in0, {zero} : f32"], "%max")

    def relu6(self, x, name):
        zero, six = self._zero(), self._scalar("six", "6.000000e+00 : f32")
        return self._elementwise(name, [x], ["nchw"],
                                 [f"%max = arith.maximumf %in0, {zero} : f32",
                                  f"%min = arith.minimumf %max, {six} : f32"], "%min")

    def add(self, x, y, name):
        if x.shape != y.shape:
            raise ValueError(f"{name}: cannot add {x.shape} and {y.shape}")
        return self._elementwise(name, [x, y], ["nchw", "nchw"],
                                 ["%sum = arith.addf %in0, %in1 : f32"], "%sum")

    def max_pool(self, x, kernel, stride, padding, name):
        lowest = self._scalar("lowest", "0xFF800000 : f32")
        padded = self._pad(name, x, padding, lowest)
        shape = (*x.shape[:2], *self._slid(padded, kernel, stride, name))
        window = self._empty(name, (kernel, kernel), "window")
        return self._window(name, "pooling_nchw_max", padded, window, shape, stride, lowest)

    def global_average_pool(self, x, name):
        h, w = x.shape[2:]
        window = self._empty(name + ".sum", (h, w), "window")
        total = self._window(name + ".sum", "pooling_nchw_sum", x, window,
                             (*x.shape[:2], 1, 1), 1, self._zero())
        count = self._scalar(f"count_{h * w}", f"{float(h * w):e} : f32")
        return self._elementwise(name, [total], ["nchw"],
                                 [f"%mean = arith.divf %in0, {count} : f32"], "%mean")

    def flatten(self, x, name):
        shape = (x.shape[0], int(np.prod(x.shape[1:])))
        return self._emit(name, "%" + name.replace(".", "_"),
                          f"tensor.collapse_shape {x.name} [[0], [1, 2, 3]] : "
                          f"{tensor_type(x.shape)} into {tensor_type(shape)}", shape)

    def linear(self, x, features, name):
        n, k = x.shape
        weight = self.constant(name + ".weight",
                               self.normal(name + ".weight", (k, features), np.sqrt(1.0 / k)))
        init = self._filled(name, (n, features), self._zero())
        type_ = tensor_type(init.shape)
        product = self._emit(name, "%" + name.replace(".", "_"),
                             f"linalg.matmul ins({x.name}, {weight.name} : {tensor_type(x.shape)}, "
                             f"{tensor_type(weight.shape)}) outs({init.name} : {type_}) -> {type_}",
                             init.shape)
        bias = self.constant(name + ".bias", self.normal(name + ".bias", (features,), 0.1))
        return self._elementwise(name + ".add", [product, bias], ["row", "column"],
                                 ["%sum = arith.addf %in0, %in1 : f32"], "%sum")

    # ------------------------------------------------------------------ whole

    def write(self, file):
        """Writes the module to a text file."""
        argument, result = tensor_type(self._argument.shape), tensor_type(self._result.shape)
        for name in _MAPS:
            if name in self._maps:
                file.write(f"#{name} = affine_map<{_MAPS[name]}>\n")
        attributes = ""
        if self.runnable:
            attributes = (" attributes {llvm.emit_c_interface, "
                          f"layout.signature = ({argument}) -> {result}}}")
        file.write(f"module @{self.name} {{\n"
                   f"  func.func @main(%input: {argument}) -> {result}{attributes} {{\n")
        lines = list(self._constants)
        if self.batch is None:
            lines += ["%c0 = arith.constant 0 : index",
                      f"%batch = tensor.dim %input, %c0 : {argument}"]
        for line in lines + self._body:
            file.write(f"    {line}\n")
        file.write(f"    return {self._result.name} : {result}\n  }}\n}}\n")
        if not self.weights:
            return
        file.write("\n{-#\n  dialect_resources: {\n    builtin: {\n")
        for i, (name, array) in enumerate(self.weights.items()):
            file.write(f'{"" if i == 0 else chr(44) + chr(10)}      {name}: "0x{_BLOB_ALIGNMENT}')
            file.write(array.tobytes().hex())
            file.write('"')
        file.write("\n    }\n  }\n#-}\n")

    def example_input(self, batch=None):
        """A seeded input; `batch` is what a dynamic batch becomes."""
        shape = (self.batch or batch or 1, *self._argument.shape[1:])
        return self.normal("input", shape, 1.0)
