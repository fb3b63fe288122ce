"""Errors that a tool answers with an exit status of their own."""

from xdsl.utils.exceptions import PassFailedException


class DoesNotFitError(PassFailedException):
    """A kernel cannot be placed in the target's memories; the text says what is needed and what is
    there."""
