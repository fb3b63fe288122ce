"""CANN's fusion rules by name: which of our patterns they stand for, so that its switches work.

Names from Huawei's documents (fusion rule list of the graph engine) and from its open sources.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from fusec.fusion.patterns.chain import ACTIVATION
from fusec.fusion.patterns.grammar import SLOTS, Pattern
from fusec.fusion.patterns.words import ACTIVATIONS

_CONVS = frozenset(a for a in SLOTS if "conv" in a)
_PRODUCTS = frozenset(a for a in SLOTS if a not in _CONVS)


@dataclass(frozen=True)
class Selector:
    """Patterns whose anchor is one of `anchors` (empty: any) and that have every word of `words`.

    The word `activation` stands for any activation.
    """

    anchors: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()

    def takes(self, pattern: Pattern) -> bool:
        """Whether a pattern is one of them."""
        if self.anchors and not self.anchors.intersection(pattern.words):
            return False
        return all(_has(pattern, word) for word in self.words)


def _has(pattern: Pattern, word: str) -> bool:
    if word == ACTIVATION:
        return any(w in ACTIVATIONS for w in pattern.words)
    return word in pattern.words


def _conv(*words: str) -> Selector:
    return Selector(_CONVS, words)


def _product(*words: str) -> Selector:
    return Selector(_PRODUCTS, words)


RULES: dict[str, Selector] = {
    "AABiasaddConvFusionPass": _conv("bias"),
    "ConvBatchnormFusionPass": _conv("bn"),
    "PadConv2dFusionPass": _conv("pad"),
    "SingleBatchNormFusionPass": _conv("bn"),
    "BatchNormBnInferFusionPass": _conv("bn"),
    "TbeConvCommonRules0FusionPass": _conv(ACTIVATION),
    "TbeConvCommonRules2FusionPass": _conv(ACTIVATION),
    "TbeConv2DAddMulQuantFusionPass": _conv("residual"),
    "ADepthwiseFusionPass": Selector(frozenset({"depthwise_conv"})),
    "GroupConv2DFusionPass": Selector(frozenset({"grouped_conv"})),
    "TbeConvRequantFusionPass": _conv("quant"),
    "TbeEltwiseQuantFusionPass": Selector(words=("quant",)),
    "TbeEltwiseCastFusionPass": Selector(words=("cast",)),
    "MatmulV2QuantProcess": Selector(frozenset({"matmul"}), ("dequant",)),
    "BatchMatmulV2QuantProcess": Selector(frozenset({"batch_matmul"}), ("dequant",)),
    "FCQuantProcess": Selector(frozenset({"gemm"}), ("dequant",)),
    "MatMulBiasAddFusionPass": _product("bias"),
    "MatMulAddFusionPass": _product("residual"),
    "ATbeMatmulElemwiseFusionPass": Selector(frozenset({"matmul", "gemm"}), (ACTIVATION,)),
    "TbeBatchMatmulElementWiseFusionPass": Selector(frozenset({"batch_matmul"}), (ACTIVATION,)),
    "TbeBatchMatmulFusedMulAddFusionPass": Selector(frozenset({"batch_matmul"}), ("scale",)),
    "BatchMatMulFusionPass": Selector(frozenset({"batch_matmul"})),
    "TbeFixPipeFusionPass": Selector(frozenset(SLOTS), ("cast",)),
    "FixPipeAbilityProcessPass": Selector(frozenset(SLOTS), ("cast",)),
    "SoftmaxFusionPass": Selector(frozenset({"softmax"})),
    "LogSoftmaxFusionPass": Selector(frozenset({"log_softmax"})),
    "NormalizeFusionPass": Selector(frozenset({"l2_norm"})),
    "LayerNormFusionPass": Selector(frozenset({"layer_norm"})),
    "AddRmsNormFusionGraphPass": Selector(frozenset({"rms_norm"}), ("residual",)),
    "InplaceAddRmsNorm": Selector(frozenset({"rms_norm"}), ("residual",)),
}
"""Rules that have an equivalent here."""

_OTHERS = """
ConvScaleFusionPass AddNFusionPass ADeformableConv2dPass ALSTMFusionPass ApplyAddOutputPass
AReduceMeanFusionPass AReduceSumFusionPass AvgPool3DFusionPass AvgPool3DGradFusionPass
AvgPoolGradFusionPass AvgPoolQuantProcessFusionPass BatchNormGradBnInferGradFusion
BatchNormGradInfGradFusion CastRemoveFusionPass CastCastFusionPass CastReluCastFusionPass
ConstToAttrPass ConstToAttrReduceSumFusion ConstToAttrGatherV2Fusion
ConstToAttrResizeNearestNeighborGradFusion ConstToAttrStridedSliceV2Fusion Conv2DQuantProcess
CommonLSTMFusionPass CommonSubexpressionEliminationPass Conv2DTDQuantProcess COPYPass
ConvConcatFusionPass SplitConvConcatFusionPass ConvToFullyConnectionFusionPass
ConvWeightCompressFusionPass ConcatCOptimizeFusionPass ConcatTileFusionPass DeConvQuantProcess
DepthwiseDfFusionPass DepthwiseDwMulFusionPass DepthwiseFusionPass DepthwiseToConv2dFusionPass
DreluFusionPass DWConv2DQuantProcess DynamicGRUV2GradFusionPass DynamicRNNFusionPass
DynamicRNNGradFusionPass DynamicRNNInsertTransposePass DynamicRNNSeqFusionPass EinsumPass
FlattenV2Pass FusedBatchNormFusionPass FusedBatchNormBertFusionPass FusedBatchNormGradFusionPass
GlobalavgpoolPass GroupConv2DQuantProcess HostBNFusionPass LayerNormGradFusionPass
LogSoftmaxGradFusionPass MapIndexFusionPass MatMul2MatMulV2FusionPass MaxPoolWithArgmaxFusionPass
MulAddFusionPass MulAddNL2LossFusionPass PackFusionPass PassThroughFusionPass
PassThroughSecondFusionPass PermuteFusionPass PoolingQuantProcess PReluGradFusionPass PriorBoxPass
ProposalFusionPass ReshapeTransposeFusionPass TransposeReshapeFusionPass RNNFusionPass
SoftmaxGradExtFusion SpatialTransformerDPass SPPPass TbeAntiquantMaxpoolingFusionPass
TbeConvDequantS16FusionPass TbeConvDequantVaddReluFusionPass TbeConvDequantQuantFusionPass
TbeConvBnreduceFusionPass TbeDynamicElemwiseBroadcastFusionPass TbeDynamicElemwiseReduceFusionPass
TbeEltwiseFusionPass TbeEltwiseWriteSelectFusionPass TbeMultiOutputFusionPass
TbePool2dQuantFusionPass TbeReduceElemwiseFusionPass TfMergeConv2DBackpropInputFusionPass
TfMergeSubFusionPass TfTagNoConstFoldingFusionPass TransposedUpdateFusionPass
TransdataCastFusionPass UnpackFusionPass V100NotRequantFusionPass V200NotRequantFusionPass
WeightQuantBatchMatmulV2TransposeFusionPass ZConcatExt2FusionPass ZConcatDFusionPass
ZConfusionSoftmaxGradFusionPass ZSplitVDFusionPass ZSplitVFusionPass StridedSliceDToSplitPass
ArgMaxWithFusionPass DepthwiseInsertTransDataFusionPass
"""

OTHERS = frozenset(_OTHERS.split())
"""Rules of CANN that have nothing here to switch: fusec does it otherwise, or not as fusion."""


@dataclass(frozen=True)
class Resolved:
    """Patterns that names stand for, and a note for each name without an equivalent."""

    patterns: frozenset[str]
    notes: tuple[str, ...] = ()


class UnknownRule(ValueError):
    """A name that neither fusec nor CANN knows; the text has the nearest one."""


@cache
def _by_key() -> dict[str, str]:
    return {_key(name): name for name in (*RULES, *OTHERS)}


def _key(name: str) -> str:
    """A rule's name as people write it: with and without `Pass` and `Fusion`, in any case."""
    key = name.lower()
    for ending in ("pass", "graph", "fusion"):
        key = key.removesuffix(ending)
    return key


def resolve(names: Iterable[str], patterns: dict[str, Pattern]) -> Resolved:
    """The patterns that names of ours or of CANN stand for; raises UnknownRule."""
    found: set[str] = set()
    notes: list[str] = []
    for name in names:
        if name in patterns:
            found.add(name)
            continue
        rule = _by_key().get(_key(name))
        if rule is None:
            near = get_close_matches(name, (*patterns, *RULES, *OTHERS), n=1)
            advice = f"did you mean '{near[0]}'?" if near else "see fuse-opt --list-patterns"
            raise UnknownRule(f"unknown fusion '{name}'; {advice}")
        selector = RULES.get(rule)
        if selector is None:
            notes.append(f"'{name}' is a rule of CANN without an equivalent here")
            continue
        found.update(p.name for p in patterns.values() if selector.takes(p))
    return Resolved(frozenset(found), tuple(notes))
