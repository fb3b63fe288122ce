"""The npu dialect: kernels on the buffers of an Ascend core, and the host side that launches them.

Destination-passing on builtin memrefs whose memory space is `#npu.space<...>`; names and meaning
follow Huawei's HIVM wherever it has the operator. `scf`, `arith`, `memref` and `func` are used as
they are. Attributes of functions: `npu.host` on the host function; on a kernel `npu.core` ("cube",
"vector" or "mixed"); `npu.target` on the module.
"""

from xdsl.ir import Dialect

from .attrs import CoreAttr, PipeAttr, ScheduleAttr, SpaceAttr
from .control import (
    BarrierOp,
    BlockIdxOp,
    BlockNumOp,
    LaunchOp,
    SetFlagOp,
    SyncBlockSetOp,
    SyncBlockWaitOp,
    WaitFlagOp,
)
from .cube import MmadOp
from .host import HostCallOp
from .move import AllocOp, CopyOp, FixpipeOp, LoadOp, StoreOp
from .vector import (
    VAbsOp,
    VAddOp,
    VAndOp,
    VBrcOp,
    VCastOp,
    VCmpOp,
    VDivOp,
    VExpOp,
    VLnOp,
    VMaxOp,
    VMinOp,
    VMulOp,
    VNotOp,
    VOrOp,
    VRecOp,
    VReduceOp,
    VReluOp,
    VRsqrtOp,
    VSelOp,
    VSqrtOp,
    VSubOp,
    VTransposeOp,
)

Npu = Dialect(
    "npu",
    [
        AllocOp,
        LoadOp,
        StoreOp,
        CopyOp,
        FixpipeOp,
        MmadOp,
        VAbsOp,
        VExpOp,
        VLnOp,
        VSqrtOp,
        VRsqrtOp,
        VRecOp,
        VReluOp,
        VNotOp,
        VAddOp,
        VSubOp,
        VMulOp,
        VDivOp,
        VMaxOp,
        VMinOp,
        VAndOp,
        VOrOp,
        VCastOp,
        VCmpOp,
        VSelOp,
        VReduceOp,
        VBrcOp,
        VTransposeOp,
        BlockIdxOp,
        BlockNumOp,
        SetFlagOp,
        WaitFlagOp,
        BarrierOp,
        SyncBlockSetOp,
        SyncBlockWaitOp,
        LaunchOp,
        HostCallOp,
    ],
    [SpaceAttr, PipeAttr, CoreAttr, ScheduleAttr],
)
