"""What number every value of an index expression is a multiple of."""

import ast
from math import gcd

from fusec.export.hivm_module import Function, Operation, Use

_SAME = frozenset(("arith.index_cast", "arith.extsi", "arith.extui", "arith.trunci"))
_COMMON = frozenset(
    ("arith.addi", "arith.subi", "arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui")
)
_AFFINE = frozenset(("affine.apply", "affine.min", "affine.max"))


def divisor(function: Function, use: Use) -> int:
    """The greatest known divisor of the value; 0 for the value 0, 1 where nothing is known."""
    loop = function.loop(use)
    if loop is not None:
        return gcd(divisor(function, loop.lower), divisor(function, loop.step))
    op = function.definition(use)
    if op is None:
        return 1
    if op.name == "arith.constant":
        return abs(function.constant(use) or 0)
    if op.name in _AFFINE:
        return _affine(function, op)
    if op.name in _SAME:
        return divisor(function, op.operands[0])
    if op.name not in _COMMON and op.name != "arith.muli":
        return 1
    left, right = (divisor(function, operand) for operand in op.operands[:2])
    return left * right if op.name == "arith.muli" else gcd(left, right)


def _affine(function: Function, op: Operation) -> int:
    alias = function.aliases.get(op.rest.split("(")[0].strip())
    if alias is None:
        return 1
    known = {
        name: divisor(function, operand)
        for name, operand in zip(alias.parameters, op.operands, strict=False)
    }
    text = alias.results.replace("floordiv", "//").replace("ceildiv", "/").replace("mod", "%")
    try:
        tree = ast.parse(f"({text},)", mode="eval")
    except SyntaxError:
        return 1
    return _expression(tree.body, known)


def _expression(node: ast.expr, known: dict[str, int]) -> int:
    match node:
        case ast.Tuple(elts=elements):
            return gcd(*(_expression(element, known) for element in elements))
        case ast.Constant(value=int(value)):
            return abs(value)
        case ast.Name(id=name):
            return known.get(name, 1)
        case ast.UnaryOp(operand=operand):
            return _expression(operand, known)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _expression(left, known) * _expression(right, known)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mod(), right=right):
            return gcd(_expression(left, known), _expression(right, known))
        case _:
            return 1
