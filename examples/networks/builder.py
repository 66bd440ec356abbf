"""Writes a network as MLIR: linalg on tensors.

    b = Builder("tiny", CommonOptions(batch=None))     # None: the batch is dynamic
    x = b.input("input", (b.batch, 3, 32, 32))
    x = b.relu(b.conv(x, 16, kernel=3, padding=1, name="conv1", bias=True), "relu1")
    b.output(b.linear(b.flatten(b.global_average_pool(x, "pool"), "flat"), 10, "fc"))
    b.write(file)

Each method appends the ops of one layer and returns its result. The name of the layer is the location of the ops and
the stem of their SSA names and weights. Weights are scaled so that activations keep their magnitude. Depending on the
options, they are dense resources (one hexadecimal blob), splat constants, or arguments of main.
"""

from .control import Control
from .layers import Layers
from .norms import Norms
from .options import CommonOptions
from .text import Dim


class Builder(Control, Layers, Norms):
    def __init__(self, name: str, options: CommonOptions) -> None:
        super().__init__(name, options.seed, options.weights, options.runnable)
        self.batch: Dim = "%batch" if options.batch is None else options.batch
        # Only some networks have these options.
        self.bn_mode = getattr(options, "bn", self.bn_mode)
        self.structure = getattr(options, "structure", self.structure)
