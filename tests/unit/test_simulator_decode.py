"""The decoded form: scalars out of loops, views resolved, rotating buffers, refusals."""

import pytest

from fusec.simulator.decode import decode_kernel
from fusec.simulator.errors import SimulationError
from fusec.simulator.form import BLOCK, LAUNCH, Instr, Kernel, Loop, Scalar, View
from fusec.simulator.stream import Broken, Event, Region, stream_of
from simulator_kernels import KERNELS, MATMUL, RELU, TRANSPOSED, kernel, replaced


def events(text: str, block: int = 0, blocks: int = 1, checks: bool = False) -> list[Event]:
    stream = stream_of(decode_kernel(kernel(text)), checks=checks)
    return list(stream(block, blocks, lambda load, region: 3))


def named(decoded: Kernel, name: str) -> View:
    return next(v for v in decoded.views if v.name == name)


def test_views_are_resolved_to_the_argument() -> None:
    decoded = decode_kernel(kernel(TRANSPOSED))
    half = named(decoded, "half")
    assert half.buffer.name == "x"
    assert half.sizes == (15, 20)
    assert half.strides == (2, 60)
    assert half.offset.terms == ((1, decoded.block),)
    assert half.level == BLOCK
    reduced = named(decoded, "ys")
    assert reduced.sizes == (15, 20)
    assert reduced.offset.terms == ((300, decoded.block),)


def test_scalars_leave_loops_that_do_not_matter_to_them() -> None:
    text = replaced(RELU, "%o0 = arith.muli %t, %c16", "%o0 = arith.muli %block, %c16")
    decoded = decode_kernel(kernel(text))
    before = [s for s in decoded.body if isinstance(s, Scalar)]
    assert [s.op for s in before] == ["muli", "subi", "minsi"]
    assert max(v.level for v in decoded.views if v.buffer.name == "in") == BLOCK


def test_constants_are_folded_and_whole_buffers_are_constant() -> None:
    decoded = decode_kernel(kernel(MATMUL))
    assert named(decoded, "bias1").level == LAUNCH
    assert named(decoded, "bias1").static_shape
    assert not decoded.prelude


def test_the_slot_of_a_rotating_buffer() -> None:
    decoded = decode_kernel(kernel(MATMUL))
    a1 = next(b for b in decoded.allocs if b.name == "a1")
    b1 = next(b for b in decoded.allocs if b.name == "b1")
    assert a1.copies == 2
    assert a1.pitch == 64 * 64 * 2
    assert a1.slot is not None
    assert a1.slot == b1.slot, "one counter for all buffers that rotate alike"
    starts = [
        regions[1][0]
        for operator, regions in events(MATMUL)
        if isinstance(operator, Instr) and operator.dest.name == "a1s"
    ]
    assert starts == [0, 8192, 0] * 4, "the count starts anew each time the loop is entered"


def test_the_stream_evaluates_tails() -> None:
    loads = [
        regions[0]
        for operator, regions in events(RELU, block=2, blocks=5)
        if isinstance(operator, Instr) and operator.kind == "load"
    ]
    row = 300 * 4
    want: list[Region] = [
        (2 * 16 * row, (16, 300), (300, 1)),
        (7 * 16 * row, (16, 300), (300, 1)),
        (12 * 16 * row, (16, 300), (300, 1)),
    ]
    assert loads == want
    last = [r[0] for o, r in events(RELU, block=15, blocks=16) if isinstance(o, Instr)]
    assert last[0] == (15 * 16 * row, (10, 300), (300, 1))


def test_broken_bounds_are_events() -> None:
    assert not [e for e in events(RELU, checks=True) if isinstance(e[0], Broken)]
    text = replaced(RELU, "[%n0, 300]", "[%c16, 300]")
    broken = [e for e in events(text, checks=True) if isinstance(e[0], Broken)]
    assert {payload for _, payload in broken} == {(240, 16, 1, 250)}


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_decodes_with_its_loops(name: str) -> None:
    decoded = decode_kernel(kernel(KERNELS[name]))
    assert decoded.placed
    assert decoded.name == name
    assert any(isinstance(s, Loop) for s in decoded.body) == (name != "transposed")


def test_what_the_arguments_are_used_for() -> None:
    use = decode_kernel(kernel(KERNELS["mixed"])).argument_use()
    assert use == ((True, False), (True, False), (False, True), (True, True))
    assert decode_kernel(kernel(KERNELS["gather"])).argument_use()[1] == (True, False)


HEAD = 'func.func @k(%x: memref<8x8xf32, #npu.space<gm>>) attributes {npu.core = "vector"} {\n'
TAIL = "func.return\n}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @k(%x: memref<?x8xf32, #npu.space<gm>>) attributes "
            '{npu.core = "vector"} {func.return}',
            "argument 0 has a dynamic shape",
        ),
        (
            "func.func @k(%x: memref<8xf32, #npu.space<ub>>) attributes "
            '{npu.core = "vector"} {func.return}',
            "not a whole buffer in gm",
        ),
        (
            'func.func @k() attributes {npu.core = "tensor"} {func.return}',
            "npu.core is 'tensor'",
        ),
        (
            'func.func @k() attributes {npu.core = "vector"} {npu.barrier <m>\nfunc.return}',
            "a vector core has no pipe m",
        ),
        (
            HEAD + "%a = memref.alloc() : memref<8x8xf32>\n" + TAIL,
            "memref.alloc.*is not of the npu level",
        ),
        (
            HEAD + "%s = memref.subview %x[0, 0] [4, 8] [1, 1] : memref<8x8xf32, #npu.space<gm>> "
            "to memref<5x8xf32, strided<[8, 1]>, #npu.space<gm>>\n" + TAIL,
            "is declared as .*5x8.* but is 4x8xf32",
        ),
        (
            HEAD + "%s = memref.subview %x[0, 0] [4, 8] [1, 1] : memref<8x8xf32, #npu.space<gm>> "
            "to memref<4x8xf32, strided<[9, 1]>, #npu.space<gm>>\n" + TAIL,
            "correct the result's type",
        ),
        (
            HEAD + "%c = arith.constant 0 : index\n%s = arith.constant -1 : index\n"
            "scf.for %i = %c to %c step %s {\n}\n" + TAIL,
            "the step is -1",
        ),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        decode_kernel(kernel(text))


def test_a_kernel_of_the_wrong_core_is_refused() -> None:
    text = replaced(RELU, 'npu.core = "vector"', 'npu.core = "cube"')
    with pytest.raises(SimulationError, match=r'npu.core is "cube"'):
        decode_kernel(kernel(text))
