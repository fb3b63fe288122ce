"""Emits a cube kernel: tiles of a contraction, stored by fixpipe with relu and cast.

In: a graph.kernel with a `cube` schedule. Out: its function; matmul, gemm and convolution alike.
"""

from __future__ import annotations

from fusec.hw import Target
from fusec.lowering.addends import constants_of
from fusec.lowering.arguments import arguments_of, output
from fusec.lowering.builder import KernelBuilder
from fusec.lowering.contraction import ContractionEmitter
from fusec.lowering.emitted import EmittedKernel
from fusec.schedule.contraction import Y
from fusec.schedule.cube_problem import cube_problem
from fusec.schedule.cube_schedule import CubeSchedule, tile_counts
from fusec.schedule.region import Region
from fusec_dialects.graph import KernelOp
from fusec_dialects.npu.move import FixpipeOp


def emit(kernel: KernelOp, schedule: CubeSchedule, target: Target) -> EmittedKernel:
    """The function of a kernel whose schedule was checked; raises RefusalError for no such one."""
    region = Region.of_block(kernel.body.block)
    problem = cube_problem(region)
    constants = constants_of(problem, schedule)
    arguments = arguments_of(kernel, constants)
    b = KernelBuilder(kernel.sym_name.data, arguments.all)
    b.location = kernel.location
    places = {Y: arguments.places[output(0)]} | {
        place: arguments.places[root] for place, root in enumerate(problem.roots) if place != Y
    }
    operands = {place: b.args[index] for place, index in places.items()}
    read = {c.name: b.args[arguments.places[c.name]] for c in constants}
    emitter = ContractionEmitter(b, problem, schedule, operands, read)
    with b.at(problem.anchor), b.block_loop(tile_counts(problem, schedule), schedule.blocks) as at:
        tile = emitter.tile(at)
        acc = emitter.accumulate(tile)
        with b.at(problem.last):
            b.op(FixpipeOp, acc, emitter.part(Y, tile), relu=problem.relu)
    return EmittedKernel(b.finish("cube", schedule.blocks, schedule.to_attr()), constants)
