#!/usr/bin/env python3
"""Counts the tests that were skipped, from the output of `cargo test -- --show-output` on stdin.

A test that lacks data, a display or a program prints a line `skipped: WHY` and returns. This script passes the
output on without that of the tests that passed, and ends with the number of skipped tests and their reasons.
With PLIANT_DATA set, a test that was skipped for want of data is a failure. So is, in any case, a test file
that looks for PLIANT_DATA and never says that it skipped something.

    cargo test --workspace -- --show-output 2>&1 | python3 checks/skipped.py
"""

import collections
import os
import pathlib
import re
import sys

MARK = "skipped: "


def silent_files():
    """Test files that may skip without a word."""
    root = pathlib.Path(__file__).resolve().parent.parent
    for path in sorted(root.glob("crates/**/*.rs")):
        if "benches" in path.parts or "target" in path.parts or "examples" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if re.search(r"var(_os)?\(\s*\"PLIANT_DATA\"", text) and f'"{MARK}' not in text:
            yield path.relative_to(root)


def main():
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # Tests may print any bytes.
    skipped = collections.Counter()
    passed = 0
    inside = False  # In the outputs of tests that passed.
    for line in sys.stdin:
        text = line.rstrip("\n")
        if text == "successes:":
            inside = True
        elif text == "failures:" or text.startswith("test result:"):
            inside = False
        if text.startswith(MARK):
            skipped[text[len(MARK):]] += 1
        counted = re.match(r"test result: .* (\d+) passed", text)
        if counted:
            passed += int(counted.group(1))
        if not inside:
            sys.stdout.write(line)
            sys.stdout.flush()

    total = sum(skipped.values())
    print(f"\n{total} test(s) of {passed} skipped something")
    for why, count in skipped.most_common():
        print(f"  {count} × {why}")

    failed = False
    if os.environ.get("PLIANT_DATA") and any("PLIANT_DATA" in why for why in skipped):
        print("error: PLIANT_DATA is set, but tests were skipped for want of data", file=sys.stderr)
        failed = True
    for path in silent_files():
        print(f"error: {path} may skip tests without a line '{MARK}…'", file=sys.stderr)
        failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
