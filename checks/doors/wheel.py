"""Builds the wheel and the source archive of the Python package and checks what a user gets.

Usage: python wheel.py FOLDER [--wheel FILE]   (from the root of the clone; FOLDER takes the results)

`--wheel` checks a wheel that was built before. The wheel is linked against glibc 2.28 with zig, so that it runs on every
Linux that Blender supports; a build without zig takes the glibc of the machine.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

MOST_BYTES = 6_000_000
TAG = "manylinux_2_28"
MOST_IMPORT_MS = 10.0
ABI = "cp310-abi3"

# Beyond numpy: the least of several tries, so that a busy machine counts less.
IMPORT = """
import subprocess, sys, time
import numpy
begin = time.perf_counter()
import pliant
print(1000 * (time.perf_counter() - begin))
"""

TRY = """
import pickle, pliant
rig = pliant.load("specimen:head").rig()
pose = rig.poser().grab([4480, 855]).solve([[0.7, 1.1, 0], [0, 0, 0]])
assert pose.errors.max() < 0.2, pose
assert pickle.loads(pickle.dumps(rig)).names == rig.names
print(pliant.__version__, pose)
"""


def run(*command, **options):
    print("$", *map(str, command), flush=True)
    return subprocess.run([str(part) for part in command], check=True, **options)


def require(claim, text):
    print("ok  " if claim else "FAIL", text, flush=True)
    if not claim:
        raise SystemExit(1)


def build_wheel(folder):
    command = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--zig", "--compatibility", TAG, "--out", folder]
    shutil.rmtree(folder, ignore_errors=True)
    run(*command)
    return next(folder.glob("*.whl"))


def check_wheel(wheel):
    require(TAG in wheel.name and ABI in wheel.name, f"{wheel.name} has the tags {ABI} and {TAG}")
    size = wheel.stat().st_size
    require(size <= MOST_BYTES, f"{size / 1e6:.2f} MB, at most {MOST_BYTES / 1e6:g}")
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("pliant/_pliant.abi3.so", "pliant/_pliant.pyi", "pliant/py.typed", "entry_points.txt", "licenses/LICENSE-MIT"):
        require(any(name.endswith(part) for name in names), f"the wheel holds {part}")
    strange = [name for name in names if name.endswith((".pyc", ".rs", ".a", ".o"))]
    require(not strange, "nothing else is in it")


def check_installed(wheel, folder, python):
    """The wheel in an environment that has nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder) if python != sys.executable else venv.create(folder, with_pip=True)
    own = folder / "bin" / "python"
    run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    version = run(own, "-c", TRY, capture_output=True, text=True, cwd=folder).stdout.strip()
    require(True, f"installed and tried with {python}: {version}")

    tries = [float(run(own, "-c", IMPORT, capture_output=True, text=True, cwd=folder).stdout) for _ in range(9)]
    require(min(tries) <= MOST_IMPORT_MS, f"import takes {min(tries):.1f} ms beyond numpy, at most {MOST_IMPORT_MS:g}")
    shown = run(folder / "bin" / "pliant", "info", "specimen:bar", capture_output=True, text=True, cwd=folder).stdout
    require("2786 vertices" in shown.replace(",", ""), "the command pliant runs")
    wrong = subprocess.run([folder / "bin" / "pliant", "pose"], capture_output=True, text=True, cwd=folder)
    require(wrong.returncode == 2, "wrong usage of it is exit code 2")


def further_interpreters():
    """The oldest and the newest Python that one module is for, where the machine has them."""
    found = []
    for version in ("3.10", "3.13"):
        candidates = [shutil.which(f"python{version}"), *pathlib.Path.home().glob(f".pyenv/versions/{version}*/bin/python")]
        for candidate in filter(None, candidates):
            asked = subprocess.run([candidate, "-c", "import sys, venv; print(*sys.version_info[:2], sep='.')"], capture_output=True, text=True)
            if asked.stdout.strip() == version:
                found.append(candidate)
                break
        else:
            print(f"skipped: there is no Python {version}")
    return found


def check_archive(folder):
    """The source archive: complete enough that cargo resolves it without the rest of the clone, to the same versions.

    It holds fewer crates than the clone, so cargo removes what they need from its lock file; nothing else may change there.
    """
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "maturin", "sdist", "--out", folder)
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    root = next(path for path in folder.iterdir() if path.is_dir())
    manifest = root / "crates" / "pliant-python" / "Cargo.toml"
    ours = locked(root / "Cargo.lock")
    run("cargo", "metadata", "--offline", "--format-version", "1", "--manifest-path", manifest, stdout=subprocess.DEVNULL)
    used = locked(root / "Cargo.lock")
    require(used < ours, f"{archive.name}, {archive.stat().st_size / 1e6:.1f} MB, resolves by itself to {len(used)} of the {len(ours)} locked packages")
    return archive


def locked(path):
    """The packages of a lock file, with their versions."""
    lines = path.read_text().splitlines()
    return {pair for pair in zip(lines, lines[1:]) if pair[0].startswith("name = ")}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--wheel", type=pathlib.Path)
    arguments.add_argument("--python", action="append", help="further interpreters to try the wheel with (default: 3.10 and 3.13)")
    arguments = arguments.parse_args()
    folder = arguments.folder.resolve()

    archive = check_archive(folder / "sdist")
    wheel = (arguments.wheel or build_wheel(folder / "wheels")).resolve()
    check_wheel(wheel)
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, archive)
    for k, python in enumerate([sys.executable, *(arguments.python or further_interpreters())]):
        check_installed(wheel, folder / f"empty{k}", python)
    print("all as it should be")


if __name__ == "__main__":
    main()
