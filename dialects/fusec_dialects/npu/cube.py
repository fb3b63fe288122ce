"""The matrix multiply-accumulate of the cube core.

On l1 operands it moves to L0 itself (HIVM's mmadL1); after `npu-expand-l0` it works on l0a and l0b.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from .attrs import Core, Pipe, Space
from .base import (
    Agent,
    Buffer,
    BufferEffects,
    NpuOp,
    element_type,
    expect_space,
    same_size,
    shape_of,
)

ACCUMULATOR = {"f16": "f32", "bf16": "f32", "f32": "f32", "i8": "i32"}
"""Element type of the accumulator for each element type of the operands."""


def _swap(shape: tuple[int, ...], transposed: bool) -> tuple[int, ...]:
    return shape[::-1] if transposed else shape


@irdl_op_definition
class MmadOp(NpuOp):
    """acc = (init ? bias or 0 : acc) + a x b, accumulated in f32 (i32 for i8).

    a is [M, K] (`a_transpose`: stored [K, M]), b is [K, N] (`b_transpose`: stored [N, K]), acc
    [M, N], bias [N] in the accumulator's type. `l0 [k]` is the step in K of the copies to L0.
    Operands may be sub-views of smaller, dynamic size: the real M, K and N.
    """

    name = "npu.mmad"

    a = operand_def(Buffer)
    b = operand_def(Buffer)
    bias = opt_operand_def(Buffer)
    init = operand_def(IntegerType(1))
    acc = operand_def(Buffer)
    a_transpose = opt_prop_def(UnitAttr)
    b_transpose = opt_prop_def(UnitAttr)
    l0 = opt_prop_def(DenseArrayBase.constr(i64))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(BufferEffects())
    assembly_format = (
        "(`a_transpose` $a_transpose^)? (`b_transpose` $b_transpose^)? "
        "`ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` "
        "(`bias` `(` $bias^ `:` type($bias) `)`)? `init` $init "
        "`outs` `(` $acc `:` type($acc) `)` (`l0` $l0^)? attr-dict"
    )

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        init: SSAValue,
        acc: SSAValue,
        *,
        bias: SSAValue | None = None,
        a_transpose: bool = False,
        b_transpose: bool = False,
        l0: Sequence[int] | None = None,
    ) -> None:
        properties: dict[str, Attribute | None] = {
            "a_transpose": UnitAttr() if a_transpose else None,
            "b_transpose": UnitAttr() if b_transpose else None,
            "l0": None if l0 is None else DenseArrayBase.from_list(i64, l0),
        }
        super().__init__(operands=[a, b, bias, init, acc], properties=properties)

    def reads(self) -> Sequence[SSAValue]:
        bias = () if self.bias is None else (self.bias,)
        return (self.a, self.b, *bias, self.acc)

    def writes(self) -> Sequence[SSAValue]:
        return (self.acc,)

    def agent(self) -> Agent:
        return Agent(Core.CUBE, Pipe.M)

    @property
    def on_l1(self) -> bool:
        """Whether the operands still are in L1, before `npu-expand-l0`."""
        return expect_space(self, self.a, "a", (Space.L1, Space.L0A)) == Space.L1

    def verify_(self) -> None:
        if self.on_l1:
            expect_space(self, self.b, "b", (Space.L1,))
        else:
            expect_space(self, self.b, "b", (Space.L0B,))
        expect_space(self, self.acc, "accumulator", (Space.L0C,))
        a, b, acc = shape_of(self.a), shape_of(self.b), shape_of(self.acc)
        if a is None or b is None or acc is None or not len(a) == len(b) == len(acc) == 2:
            raise VerifyException("npu.mmad: operands and accumulator are matrices")
        m, k = _swap(a, self.a_transpose is not None)
        k2, n = _swap(b, self.b_transpose is not None)
        if not (same_size(k, k2) and same_size(m, acc[0]) and same_size(n, acc[1])):
            raise VerifyException(
                f"npu.mmad: {m}x{k} times {k2}x{n} does not fit an accumulator of {acc[0]}x{acc[1]}"
            )
        ta, tb, tc = (str(element_type(v)) for v in (self.a, self.b, self.acc))
        if ta != tb or ACCUMULATOR.get(ta) != tc:
            raise VerifyException(
                f"npu.mmad: no instruction multiplies {ta} by {tb} into {tc}; "
                "it takes f16, bf16 and f32 into f32, i8 into i32"
            )
        self._verify_l0()
        if self.bias is None:
            return
        expect_space(self, self.bias, "bias", (Space.L1,))
        bias = shape_of(self.bias)
        if bias is None or len(bias) != 1 or not same_size(bias[0], n):
            raise VerifyException(f"npu.mmad: the bias is a vector of N = {n} values, found {bias}")
        if str(element_type(self.bias)) != tc:
            raise VerifyException(f"npu.mmad: the bias has the accumulator's type {tc}")
        if self.a_transpose is not None or self.b_transpose is not None:
            raise VerifyException(
                "npu.mmad: a transposed operand together with a bias is silently not transposed by "
                "Huawei's library; store the weights as [K][N]"
            )

    def _verify_l0(self) -> None:
        if self.l0 is None:
            return
        if not self.on_l1:
            raise VerifyException("npu.mmad: `l0` is for operands in l1")
        steps = self.l0.get_values()
        if len(steps) != 1 or steps[0] < 1:
            raise VerifyException(
                f"npu.mmad: `l0 [k]` is one positive step in K, found {list(steps)}"
            )
