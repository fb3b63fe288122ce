"""Errors that a tool answers with an exit status of their own."""

from xdsl.utils.exceptions import DiagnosticException, PassFailedException


class DoesNotFitError(PassFailedException):
    """A kernel cannot be placed in the target's memories; the text says what is needed and what is
    there."""


class InvalidResultError(DiagnosticException):
    """A pass left IR that does not verify: the pass's fault, not that of its input."""
