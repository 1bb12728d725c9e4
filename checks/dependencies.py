"""Licences and sources of all dependencies, by the rules of deny.toml, where `cargo deny` is not at hand.

    python3 checks/dependencies.py

Advisories need a database from the network: `cargo deny check advisories`.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = tomllib.loads((ROOT / "deny.toml").read_text())
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether a SPDX expression can be satisfied by allowed licences."""
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def any_of() -> bool:
        found = all_of()
        while words and words[0] == "OR":
            words.pop(0)
            found = all_of() or found
        return found

    def all_of() -> bool:
        found = one()
        while words and words[0] == "AND":
            words.pop(0)
            found = one() and found
        return found

    def one() -> bool:
        word = words.pop(0)
        if word == "(":
            found = any_of()
            words.pop(0)
            return found
        if words and words[0] == "WITH":
            words.pop(0)
            word = f"{word} WITH {words.pop(0)}"
        return word in allowed

    return any_of() and not words


def main() -> int:
    command = ["cargo", "metadata", "--format-version", "1", "--all-features", "--locked"]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    allowed = set(RULES["licenses"]["allow"])
    exceptions = {entry["name"]: set(entry["allow"]) for entry in RULES["licenses"].get("exceptions", [])}
    wrong = []
    packages = [p for p in json.loads(text)["packages"] if p["source"]]
    for package in packages:
        name = f"{package['name']} {package['version']}"
        if package["source"] != CRATES_IO:
            wrong.append(f"{name}: comes from {package['source']}")
        own = allowed | exceptions.get(package["name"], set())
        if not is_allowed(package["license"] or "none", own):
            wrong.append(f"{name}: licence '{package['license']}' is not in deny.toml")

    print(f"{len(packages)} dependencies, {len(wrong)} against the rules")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
