"""Builds the extension: `blender/pliant` and a wheel of the Python package in one zip.

    python blender/package.py --wheel dist/pliant-0.1.0-cp310-abi3-manylinux_2_28_x86_64.whl --out dist
    python blender/package.py --library target/debug/lib_pliant.so --out dist

With `--library`, a wheel for this machine is made from a compiled module: quick, for tests. `cargo xtask
extension` builds a wheel with optimisation and calls this.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
#: Of the wheel's name, the platform of the extension.
PLATFORMS = [
    (r"linux.*x86_64", "linux-x64"),
    (r"linux.*aarch64", "linux-arm64"),
    (r"macosx.*(arm64|universal2)", "macos-arm64"),
    (r"macosx.*x86_64", "macos-x64"),
    (r"win_amd64", "windows-x64"),
    (r"win_arm64", "windows-arm64"),
]
#: Of every file in the zip, so that the same files give the same bytes.
TIME = (2026, 1, 1, 0, 0, 0)


def version() -> str:
    text = (ROOT / "Cargo.toml").read_text()
    return re.search(r'\[workspace\.package\][^\[]*?^version = "([^"]+)"', text, re.S | re.M).group(1)


def platform_of(wheel: str) -> str:
    for pattern, name in PLATFORMS:
        if re.search(pattern, wheel):
            return name
    raise SystemExit(f"{wheel}: the platform of this wheel is not one of Blender's")


def write_zip(path: pathlib.Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def wheel_of_library(library: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """A wheel for this machine from a compiled module, without its symbols."""
    stripped = folder / "module"
    shutil.copy(library, stripped)
    subprocess.run(["strip", "--strip-debug", str(stripped)], check=False)
    files = {
        f"pliant/{path.name}": path.read_bytes()
        for path in (ROOT / "python" / "pliant").iterdir()
        if path.suffix in {".py", ".pyi"} or path.name == "py.typed"
    }
    files["pliant/_pliant.abi3.so"] = stripped.read_bytes()

    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp310-abi3-{platform}"
    info = f"pliant-{version()}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: pliant\nVersion: {version()}\n".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: package.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = folder / f"pliant-{version()}-{tag}.whl"
    write_zip(wheel, files)
    return wheel


def build(wheel: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """The zip for the platform of `wheel`."""
    platform = platform_of(wheel.name)
    files: dict[str, bytes] = {f"wheels/{wheel.name}": wheel.read_bytes()}
    source = HERE / "pliant"
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.is_file() and path.suffix in {".py", ".toml"} and "__pycache__" not in name:
            files[name] = path.read_bytes()
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[licence] = (ROOT / licence).read_bytes()
    manifest = files["blender_manifest.toml"].decode()
    for mark, value in (("@VERSION@", version()), ("@WHEEL@", wheel.name), ("@PLATFORM@", platform)):
        manifest = manifest.replace(mark, value)
    files["blender_manifest.toml"] = manifest.encode()

    out.mkdir(parents=True, exist_ok=True)
    path = out / f"pliant-{version()}-{platform}.zip"
    write_zip(path, files)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the Blender extension.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--wheel", type=pathlib.Path, help="a wheel of the Python package")
    what.add_argument("--library", type=pathlib.Path, help="a compiled module, from which a wheel is made")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target" / "dist")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel or wheel_of_library(options.library, pathlib.Path(folder))
        print(build(wheel, options.out))


if __name__ == "__main__":
    main()
