"""Modules that spell an operator out of smaller ones: text with single letters for types and names
for scalars.
"""

import re

from xdsl.dialects.builtin import ModuleOp

from graph_modules import parse

NUMBERS = {
    "zero": 0.0,
    "half": 0.5,
    "one": 1.0,
    "two": 2.0,
    "three": 3.0,
    "six": 6.0,
    "twenty": 20.0,
    "a": 0.25,
    "eps": 1e-3,
}


def module_of(
    signature: tuple[str, str], body: str, names: dict[str, str], also: str = ""
) -> ModuleOp:
    """`main` that returns %y, and `also` (value, type); single capital letters are types."""
    scalars = "".join(
        f"%{name} = graph.constant dense<{value}> : S\n" for name, value in NUMBERS.items()
    )
    value, _, type_ = also.partition(" ")
    results = f"({signature[1]}, {type_})" if also else signature[1]
    text = f"func.func @main({signature[0]}) -> {results} {{\n{scalars}{body}\n"
    text += f"func.return %y, {value} : {signature[1]}, {type_}\n}}" if also else ""
    text += "" if also else f"func.return %y : {signature[1]}\n}}"
    return parse(re.sub(r"(?<=[ (])[A-Z](?=[,)\s])", lambda m: names.get(m[0], m[0]), text))
