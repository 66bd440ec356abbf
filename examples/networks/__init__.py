"""Inference networks as linalg on tensors, as a frontend would produce them.

    from networks import NETWORKS
    NETWORKS["resnet50"].write("resnet50.mlir", batch=4)

or `python -m networks resnet50 --batch 4 -o resnet50.mlir`. To add a network, add a file that defines a `Network`, and
an entry in the table below.
"""

from .bert import BERT_BASE
from .densenet121 import DENSENET121
from .efficientdet import EFFICIENTDET_D0
from .efficientnet_v2 import EFFICIENTNET_V2_S
from .hrnet import HRNET_W32
from .inception_v3 import INCEPTION_V3
from .llama import LLAMA3_8B, LLAMA3_8B_DECODE
from .mobilenet_v2 import MOBILENET_V2
from .network import Network
from .resnet import RESNET50, RESNET152
from .sd_unet import SD_DENOISE, SD_UNET
from .skipnet import SKIPNET101
from .swin import SWIN_T
from .unet import UNET
from .vit import VIT_B16

NETWORKS: dict[str, Network] = {network.name: network for network in (
    RESNET50, RESNET152, SKIPNET101, MOBILENET_V2, INCEPTION_V3, DENSENET121, EFFICIENTNET_V2_S,
    EFFICIENTDET_D0, HRNET_W32, UNET, SD_UNET, SD_DENOISE, VIT_B16, SWIN_T, BERT_BASE, LLAMA3_8B,
    LLAMA3_8B_DECODE)}
