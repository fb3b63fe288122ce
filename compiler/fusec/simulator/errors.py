"""The error of everything the simulator cannot do: what is wrong, where, and what would help."""


class SimulationError(ValueError):
    """A kernel or a call that cannot be simulated.

    `place` names the operator or the argument, `cause` says what is wrong, `advice` what to do.
    """

    def __init__(self, place: str, cause: str, advice: str):
        super().__init__(f"{place}: {cause}; {advice}")
        self.place = place
        self.cause = cause
        self.advice = advice
