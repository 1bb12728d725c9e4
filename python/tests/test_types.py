"""The stubs say what the module does, and type checkers accept them."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest

import pliant

PACKAGE = pathlib.Path(pliant.__file__).parent
TESTS = pathlib.Path(__file__).parent


def run(tmp_path, *command):
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    return subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)


def test_the_stubs_agree_with_the_module(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    done = run(tmp_path, "mypy.stubtest", "pliant", "--mypy-config-file", "mypy.ini")
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_accepts_typed_code_and_declines_what_is_marked(tmp_path):
    pytest.importorskip("mypy")
    done = run(tmp_path, "mypy", "--strict", "--cache-dir", str(tmp_path), str(PACKAGE), str(TESTS / "typed.py"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_accepts_the_package(tmp_path):
    pytest.importorskip("pyright")
    # Only files below its own folder count as sources.
    done = run(tmp_path, "pyright", str(PACKAGE), str(TESTS / "typed.py"), "--pythonpath", sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stubs_name_everything_that_the_module_exports():
    stub = ast.parse((PACKAGE / "_pliant.pyi").read_text())
    named = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    from pliant import _pliant

    assert {name for name in _pliant.__all__ if name != "__version__"} == {name for name in named if name[0] != "_"}


def test_the_table_of_the_documentation_names_what_exists():
    page = (TESTS.parent.parent / "docs" / "python.md").read_text()
    table = page.split("## What there is")[1].split("##")[0]
    names = re.findall(r"`(\w+)`", table)
    assert len(names) > 30 and all(hasattr(pliant, name) for name in names)
