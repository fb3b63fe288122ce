"""`NAME=AxBxC`: static shapes of inputs as people write them on a command line."""

from collections import Counter
from collections.abc import Iterable, Mapping

from fusec.frontends.errors import ImportFailure
from fusec_dialects.graph.shapes import Shape
from fusec_dialects.graph.sizes import UNNAMED


def parse_shapes(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by input name; a scalar is `NAME=`. Raises ImportFailure on anything else."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, sign, sizes = text.rpartition("=")
        parts = sizes.split("x") if sizes else []
        if not sign or not name or not all(p.isascii() and p.isdigit() for p in parts):
            raise ImportFailure(f"shape '{text}' is not of the form NAME=AxB, like x=1x3x224x224")
        if name in shapes:
            raise ImportFailure(f"--shape gives '{name}' twice")
        shapes[name] = tuple(map(int, parts))
    return shapes


def fit(name: str, dims: Shape, given: tuple[int, ...]) -> tuple[int, ...]:
    """The given shape, where it agrees with what is known of an input; else ImportFailure."""
    fits = len(dims) == len(given) and all(
        isinstance(d, str) or d == g for d, g in zip(dims, given, strict=True)
    )
    if not fits:
        model = "x".join(map(str, dims))
        raise ImportFailure(
            f"--shape {name}={'x'.join(map(str, given))} does not fit the model's {model}"
        )
    return given


def known_sizes(
    inputs: Mapping[str, Shape], given: Mapping[str, tuple[int, ...]]
) -> dict[str, int | str]:
    """What the given shapes make of the names of sizes.

    A name to which one shape gives two sizes says nothing, like Paddle's `?`: what is given counts,
    and the name becomes UNNAMED wherever it stands. Raises ImportFailure for a name that is no
    input, a shape that does not fit, and a name to which two inputs give two sizes.
    """
    for name in given:
        if name not in inputs:
            known = ", ".join(inputs) or "none"
            raise ImportFailure(f"--shape names '{name}', but the inputs are {known}")
    sizes: dict[str, int | str] = {UNNAMED: UNNAMED}
    pairs = {
        name: {
            (dim, size)
            for dim, size in zip(inputs[name], fit(name, inputs[name], shape), strict=True)
            if isinstance(dim, str)
        }
        for name, shape in given.items()
    }
    for found in pairs.values():
        counts = Counter(dim for dim, _ in found)
        sizes |= {dim: UNNAMED for dim, count in counts.items() if count > 1}
    for name, found in pairs.items():
        for dim, size in sorted(found):
            if sizes.setdefault(dim, size) not in (size, UNNAMED):
                raise ImportFailure(
                    f"--shape {name}={'x'.join(map(str, given[name]))} makes {dim} {size}, "
                    f"another one makes it {sizes[dim]}"
                )
    return sizes


def fit_all(inputs: Mapping[str, Shape], given: Mapping[str, tuple[int, ...]]) -> dict[str, Shape]:
    """The shapes of all inputs; a named size that one of them is given holds for the others too.

    Raises ImportFailure as `known_sizes` does.
    """
    sizes = known_sizes(inputs, given)
    return {
        name: given.get(name, tuple(sizes.get(d, d) if isinstance(d, str) else d for d in dims))
        for name, dims in inputs.items()
    }
