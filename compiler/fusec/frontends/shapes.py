"""`NAME=AxBxC`: static shapes of inputs as people write them on a command line."""

from collections.abc import Iterable

from fusec.frontends.errors import ImportFailure


def parse_shapes(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by input name; a scalar is `NAME=`. Raises ImportFailure on anything else."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, sign, sizes = text.rpartition("=")
        parts = sizes.split("x") if sizes else []
        if not sign or not name or not all(p.isdigit() for p in parts):
            raise ImportFailure(f"shape '{text}' is not of the form NAME=AxB, like x=1x3x224x224")
        shapes[name] = tuple(map(int, parts))
    return shapes
