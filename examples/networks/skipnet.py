"""SkipNet-101: a ResNet-101 in which a small recurrent network decides which blocks run."""

# Wang et al., "SkipNet: Learning Dynamic Routing in Convolutional Networks", 2018, section 3.2 (recurrent gates), with
# gates before the blocks that keep the shape of their input.

from collections.abc import Callable
from dataclasses import dataclass

from .builder import Builder
from .network import Network
from .options import OptionError
from .resnet import StageOptions, bottleneck, classify, stem
from .text import Value

BLOCKS = [3, 4, 23, 3]
STATE = 10  # width of the gates' recurrent state


@dataclass
class Options(StageOptions):
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch != 1:
            raise OptionError("batch must be 1: a block is executed or skipped for all of it")


@dataclass(frozen=True)
class Gates:
    """The weights that all gates share."""

    from_input: Value
    from_state: Value
    bias: Value
    decision: Value

    @staticmethod
    def get(b: Builder) -> "Gates":
        with b.scope("gates"):
            return Gates(*(b.weight(b.normal(name, shape, deviation))
                            for name, shape, deviation in (
                                ("from_input", (STATE, 4 * STATE), 0.5),
                                ("from_state", (STATE, 4 * STATE), 0.5),
                                ("bias", (4 * STATE,), 0.5), ("decision", (STATE, 1), 1.0))))

    def step(self, b: Builder, x: Value, state: Value, memory: Value) -> tuple[Value, Value]:
        """Appends a step of an LSTM."""
        sums = b.elementwise("add", "sums", b.matmul("from_input", x, self.from_input),
                             b.matmul("from_state", state, self.from_state))
        sums = b.add_bias(sums, self.bias, "biased")
        let_in, keep, let_out = (
            b.sigmoid(b.slice(f"{name}.part", sums, (0, at * STATE), (1, STATE)), name)
            for name, at in (("let_in", 0), ("keep", 1), ("let_out", 3)))
        fresh = b.elementwise("tanh", "fresh", b.slice("fresh.part", sums, (0, 2 * STATE),
                                                       (1, STATE)))
        memory = b.elementwise("add", "memory", b.elementwise("mul", "kept", keep, memory),
                               b.elementwise("mul", "added", let_in, fresh))
        state = b.elementwise("mul", "state", let_out, b.elementwise("tanh", "shown", memory))
        return state, memory

    def decide(self, b: Builder, state: Value) -> str:
        """Returns an i1 that is true if the block runs."""
        logit = b.element("logit", b.matmul("decision", state, self.decision), (0, 0))
        zero = b.function.scalar(0.0)
        return b.emit("execute", f"arith.cmpf ogt, {logit}, {zero} : f32", (), "i1").name


def _gated(b: Builder, x: Value, block: Callable[[Value], Value], gates: Gates, state: Value,
           memory: Value, embed: Callable[[Value], Value]) -> tuple[Value, Value, Value]:
    with b.scope("gate"):
        seen = b.flatten(embed(b.global_average_pool(x, "pooled")), "seen")
        state, memory = gates.step(b, seen, state, memory)
        execute = gates.decide(b, state)
    return b.branch("gated", execute, lambda: [block(x)], lambda: [x])[0], state, memory


def _body(b: Builder, options: Options) -> None:
    channels, stages = options.stages()
    x = stem(b, options, channels)
    gates = Gates.get(b)
    state, memory = (b.filled(f"gates.{name}", (1, STATE), 0.0) for name in ("state", "memory"))
    counts = options.pick("blocks", options.blocks, BLOCKS)
    for i, ((width, expanded), count) in enumerate(zip(stages, counts), 1):
        with b.scope(f"layer{i}.0"):
            x = bottleneck(b, x, width, expanded, 1 if i == 1 else 2)
        if count > 1:
            # All gates of a stage share one embedding.
            weight = b.weight(b.filter(f"layer{i}.embed", STATE, x, 1, 1.0))
        for j in range(1, count):
            with b.scope(f"layer{i}.{j}"):
                x, state, memory = _gated(
                    b, x, lambda x: bottleneck(b, x, width, expanded), gates, state, memory,
                    lambda pooled: b.conv_with(pooled, weight, "embed"))
    classify(b, x, options)


SKIPNET101 = Network(
    "skipnet101", "SkipNet-101, blocks within branches (Wang et al. 2018)", Options, _body,
    {"image": 64, "channels": [7, 5, 11, 13, 17], "blocks": [2, 3, 3, 2], "classes": 10})
