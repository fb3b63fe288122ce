"""Names of own fusions, operators and attributes."""

import re

from fusec.opbase.symbols import FusionError

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def check_name(name: str, what: str = "") -> None:
    """Raises FusionError for what is no identifier."""
    if not _NAME.fullmatch(name):
        raise FusionError(f"{what}'{name}' is no name; letters, digits and _ make one")
