"""Docstrings: everything public has one, and their examples run."""

import doctest

import pytest

import pliant
from pliant import _pliant

NAMES = [name for name in _pliant.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_everything_has_a_docstring_whose_example_runs(name):
    text = getattr(pliant, name).__doc__
    assert text and text.strip()
    example = doctest.DocTestParser().get_doctest(text, {"pliant": pliant}, name, None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(example)
    assert runner.failures == 0


# Results, and what needs more than a few lines.
WITHOUT_EXAMPLE = {"BlendFrame", "Inverse", "Played", "Pose", "Residual", "register_scans", "run_command", "viewer_page"}


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_EXAMPLE))
def test_everything_but_results_shows_an_example(name):
    assert ">>> " in getattr(pliant, name).__doc__


def test_the_page_names_only_what_exists():
    import pathlib
    import re

    page = (pathlib.Path(__file__).parent.parent.parent / "docs" / "python.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.S))
    assert len(code) > 1000
    for path in set(re.findall(r"pliant\.([A-Z]\w*(?:\.\w+)?|[a-z]\w*)", code)):
        found = pliant
        for name in path.split("."):
            found = getattr(found, name)


def test_the_code_of_the_page_parses():
    import ast
    import pathlib
    import re

    page = (pathlib.Path(__file__).parent.parent.parent / "docs" / "python.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        ast.parse(block)


def test_every_method_and_property_says_what_it_is():
    without = []
    for name in NAMES:
        kind = getattr(pliant, name)
        if isinstance(kind, type):
            own = {k for k in vars(kind) if not k.startswith("_")}
            without += [f"{name}.{k}" for k in own if not (getattr(kind, k).__doc__ or "").strip()]
    assert not without


def test_the_viewer_has_an_example_that_runs():
    example = doctest.DocTestParser().get_doctest(pliant.view.__doc__, {"pliant": pliant}, "view", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
