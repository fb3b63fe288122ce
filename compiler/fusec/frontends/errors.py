"""What goes wrong while a model is read: one diagnostic with place, cause and advice."""

from xdsl.utils.exceptions import DiagnosticException


class ImportFailure(DiagnosticException):
    """The model cannot be read: missing, damaged, or with something that is not supported."""
