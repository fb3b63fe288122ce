"""Faults that were reported against other compilers, each kind with several graphs."""

from __future__ import annotations

import faults_of_numbers as numbers
import faults_of_structure as structure
from fault_variant import Variant

FAULTS: dict[str, list[Variant]] = {
    "C2 a norm's convolution has a second user": list(structure.batch_norm()),
    "C4 a group that would wait for itself": list(structure.self_waiting()),
    "C6 a copy that is an operand twice": list(structure.copies()),
    "C8 a piece that nobody uses": list(structure.unused()),
    "C10 a residual that is a piece": list(structure.residual_of_a_piece()),
    "C12 a scale that enlarges a norm": list(structure.enlarging()),
    "C14 a bias of another rank": list(structure.bias_ranks()),
    "C16 padding before a pooling": list(structure.padded_pools()),
    "C18 a factor before a convolution": list(structure.scaled_inputs()),
    "C20 a bias with a scale of its own": list(numbers.quantised()),
    "C22 a clip without one limit": list(numbers.clips()),
    "C24 negative zero": list(numbers.zeros()),
    "C26 division of integers": list(numbers.divisions()),
    "C28 operand order": list(numbers.operand_orders()),
    "C30 norms of float16": list(numbers.half_norms()),
    "C32 softmax before opset 13": list(numbers.flat_softmax()),
    "C34 negative axes that are dropped": list(numbers.dropped_axes()),
    "C36 C38 nothing": list(numbers.empty()),
    "C40 B16 nearest of two": list(numbers.nearest()),
    "B2 B4 more than a memory holds": list(numbers.large()),
    "B6 sums over several tiles": list(numbers.deep_sums()),
    "B8 products that depend": list(numbers.dependent_dots()),
    "B10 pools with padding on one side": list(numbers.asymmetric_pools()),
    "B12 quantisation past a move": list(numbers.moved_quantisation()),
    "B14 an error that is amplified": list(numbers.amplified()),
}
"""Kind of fault -> its variants."""
