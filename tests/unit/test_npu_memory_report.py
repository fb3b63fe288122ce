"""The memory report: as data, as text, placed and not."""

import json
from dataclasses import asdict

from fusec.npu.memory_report import format_memory_report, memory_report
from fusec.npu.place import NpuPlacePass
from npu_ir import context, parse

TEXT = """
!gm = memref<16x64xf32, #npu.space<gm>>
!ub = memref<16x64xf32, #npu.space<ub>>
func.func @main(%x: !gm) attributes {npu.host} {
  %h = npu.alloc : !gm
  npu.launch @k blocks(1) (%x, %h : !gm, !gm)
  func.return
}
func.func @k(%x: !gm, %y: !gm) attributes {npu.core = "vector"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c4 step %c1 {
    %u = npu.alloc copies 2 : !ub
    npu.load ins(%x : !gm) outs(%u : !ub)
    %0 = npu.alloc : !ub
    npu.vexp ins(%u : !ub) outs(%0 : !ub)
    npu.store ins(%0 : !ub) outs(%y : !gm)
  }
  func.return
}
"""

PLACED = """\
@k ub: peak 12288 of 196608 bytes, lower bound 12288
         0      2 x 4096      3..10  %u 16x64xf32
      8192          4096       7..8  (unnamed) 16x64xf32
@main gm: peak 4096 of 68719476736 bytes, lower bound 4096
         0          4096       1..1  %h 16x64xf32"""


def test_placed() -> None:
    module = parse(TEXT)
    NpuPlacePass().apply(context(), module)
    report = memory_report(module)
    assert format_memory_report(report) == PLACED
    kernel = asdict(report[0])
    assert json.loads(json.dumps(kernel)) == {
        "function": "k",
        "spaces": [
            {
                "space": "ub",
                "capacity": 196608,
                "lower_bound": 12288,
                "peak": 12288,
                "buffers": [
                    {
                        "name": "%u",
                        "tile": "16x64xf32",
                        "space": "ub",
                        "offset": 0,
                        "bytes": 4096,
                        "copies": 2,
                        "first": 3,
                        "last": 10,
                    },
                    {
                        "name": "(unnamed)",
                        "tile": "16x64xf32",
                        "space": "ub",
                        "offset": 8192,
                        "bytes": 4096,
                        "copies": 1,
                        "first": 7,
                        "last": 8,
                    },
                ],
            }
        ],
    }


def test_not_placed() -> None:
    text = format_memory_report(memory_report(parse(TEXT)))
    assert "@k ub: not placed of 196608 bytes, lower bound 12288" in text
    assert "         -          4096" in text
