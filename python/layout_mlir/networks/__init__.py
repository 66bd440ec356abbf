"""Inference networks as linalg on tensors, as a frontend would hand them over.

    from layout_mlir.networks import NETWORKS
    builder = NETWORKS["resnet50"].build(NETWORKS["resnet50"].Options(batch=4))
    with open("resnet50.mlir", "w") as file:
        builder.write(file)

or `python -m layout_mlir.networks resnet50 --batch 4 -o resnet50.mlir`. A new
network is one more file with an `Options` dataclass and a `build` function, and
its name in the table below.
"""

from . import mobilenet_v2, resnet50

NETWORKS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}
