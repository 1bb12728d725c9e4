"""Exceptions of pliant. Every message is one line: what, where, what to do."""


class Error(Exception):
    """Anything that pliant declines or cannot do."""


class InputError(Error, ValueError):
    """Input that cannot be used: a wrong shape or dtype, an index that does not exist, NaN."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class Stopped(Error):
    """Long work that its progress function stopped by returning ``False``.

    Ctrl-C raises ``KeyboardInterrupt``, and an exception of the function itself comes through.
    """


class DefectError(Error, RuntimeError):
    """A defect of pliant; please report it."""


for _exception in (Error, InputError, FileError, Stopped, DefectError):
    _exception.__module__ = "pliant"
