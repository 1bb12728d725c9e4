"""What an artist can mend."""


class Problem(Exception):
    """One sentence: what, where, what to do. Operators report it and change nothing."""


class Cancelled(Exception):
    """The artist pressed Esc."""
