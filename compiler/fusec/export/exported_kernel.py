"""A kernel as HIVM text, and how it wants to be compiled."""

from collections.abc import Iterable
from dataclasses import dataclass

from fusec.export.bishengir import Route


@dataclass(frozen=True)
class ExportedKernel:
    """`func_text` is one `func.func @name` without aliases (no `#map`), so that kernels can be put
    into one module.

    `options` are the compiler's, without leading dashes (`enable-auto-multi-buffer=true`); on route
    `passes` the passes.
    """

    name: str
    func_text: str
    route: Route
    options: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The complete module with this kernel alone."""
        return joint_module((self,))


def joint_module(kernels: Iterable[ExportedKernel]) -> str:
    return "module {\n" + "\n".join(kernel.func_text for kernel in kernels) + "\n}\n"
