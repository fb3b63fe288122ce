"""The chip that a module is compiled for: the attribute `npu.target`, set once, read by all."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import PassFailedException

from fusec.hw import DEFAULT_TARGET, Target, TargetError, load_target

ATTRIBUTE = "npu.target"


def module_target(module: ModuleOp, option: str | None = None) -> Target:
    """The module's target; `option`, where given, becomes it.

    Raises PassFailedException for an unknown name.
    """
    found = module.attributes.get(ATTRIBUTE)
    if option is None and found is not None and not isinstance(found, StringAttr):
        raise PassFailedException(f"module attribute {ATTRIBUTE} is a string, found {found}")
    name = option or (found.data if isinstance(found, StringAttr) else DEFAULT_TARGET)
    try:
        target = load_target(name)
    except TargetError as error:
        raise PassFailedException(str(error)) from error
    module.attributes[ATTRIBUTE] = StringAttr(name)
    return target
