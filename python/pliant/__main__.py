"""The command ``pliant``, and ``python -m pliant``."""

import sys

from ._pliant import run_command


def main() -> int:
    """Runs the command line with the arguments of the process and returns its exit code."""
    return run_command(["pliant", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
