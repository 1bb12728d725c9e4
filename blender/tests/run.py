"""Tries the extension in the Blender of PyPI, as a user gets it: zip, installation, every operator.

    python blender/tests/run.py --library target/debug/lib_pliant.so                 # one Blender
    python blender/tests/run.py --zip target/dist/pliant-0.1.0-linux-x64.zip --all   # every supported one

Each Blender gets an environment of its own below the cache folder of the user, where it stays for the next run. The `bpy` of
PyPI fits one version of Python each; without `--bpy` and `--all`, the first is taken for which that Python is at hand. With
`--require`, it is an error if nothing could be tried.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Versions of the package `bpy`, and the Python that each needs.
BLENDERS = {"4.2.23": "3.11", "4.5.15": "3.11", "5.0.1": "3.11", "5.2.3": "3.13"}
#: Those that are tried by default: the first that the machine can run.
USUAL = ["4.5.15", "5.2.3"]


def cache() -> pathlib.Path:
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pliant-ci-bpy"


def interpreter(version: str) -> str | None:
    """A Python of that version that runs."""
    candidates = [shutil.which(f"python{version}"), *map(str, pathlib.Path.home().glob(f".pyenv/versions/{version}*/bin/python"))]
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        candidates.insert(0, sys.executable)
    for candidate in filter(None, candidates):
        done = subprocess.run([candidate, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == version:
            return candidate
    return None


def environment(bpy: str) -> pathlib.Path | None:
    """The Python of an environment with that Blender; `None` where it cannot be had."""
    python = cache() / bpy / "bin" / "python"
    if python.exists() and why_not_ready(python) is None:
        return python
    base = interpreter(BLENDERS[bpy])
    if base is None:
        print(f"bpy {bpy} is skipped: there is no Python {BLENDERS[bpy]}")
        return None
    if subprocess.run([base, "-m", "venv", "--clear", str(cache() / bpy)]).returncode != 0:
        print(f"bpy {bpy} is skipped: {base} makes no environment; install its package venv")
        return None
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"bpy=={bpy}", "pytest", "numpy"]
    if subprocess.run(install).returncode != 0:
        print(f"bpy {bpy} is skipped: the package index does not give it")
        return None
    problem = why_not_ready(python)
    if problem is not None:
        # Mostly a library of the system, such as libXrender.
        print(f"bpy {bpy} is skipped: it does not start: {problem}")
        return None
    return python


def why_not_ready(python: pathlib.Path) -> str | None:
    """The last line of the error with which Blender or pytest does not start; `None` where they do."""
    # The module may hang when its interpreter ends.
    program = "import bpy, pytest, numpy, os; os._exit(0)"
    done = subprocess.run([str(python), "-c", program], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


def tried(options: argparse.Namespace) -> list[tuple[str, pathlib.Path]]:
    """The Blenders to try, and the Python of each."""
    chosen = sorted(BLENDERS) if options.all else options.bpy
    found = []
    for version in chosen or USUAL:
        python = environment(version)
        if python is not None:
            found.append((version, python))
            if not chosen:
                break
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries the extension in the Blender of PyPI.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--library", type=pathlib.Path, help="a compiled module of the Python package")
    what.add_argument("--zip", type=pathlib.Path, help="a built extension")
    parser.add_argument("--bpy", action="append", choices=sorted(BLENDERS), help=f"a version of Blender (default: the first of {', '.join(USUAL)} that runs)")
    parser.add_argument("--all", action="store_true", help="every supported Blender")
    parser.add_argument("--require", action="store_true", help="an error if no Blender could be tried")
    parser.add_argument("rest", nargs="*", help="arguments for pytest")
    options = parser.parse_args()
    blenders = tried(options)
    if not blenders:
        print("no Blender was tried: install Python 3.11 or 3.13 with its package venv")
        return int(options.require)

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = options.zip
        if path is None:
            command = [sys.executable, str(ROOT / "blender" / "package.py"), "--library", str(options.library), "--out", folder]
            path = pathlib.Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
        for version, python in blenders:
            print(f"Blender {version}", flush=True)
            settings = {**os.environ, "PLIANT_EXTENSION": str(path.resolve()), "PYTHONDONTWRITEBYTECODE": "1"}
            settings.pop("PYTHONPATH", None)
            command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *(options.rest or [str(HERE)])]
            failed |= subprocess.run(command, cwd=HERE, env=settings).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
