"""Importing is cheap, names are complete, and every public class explains itself."""

import inspect
import subprocess
import sys

import pytest

import streamsieve as ss
from streamsieve import registry
from tools import exports

HEAVY = ("sklearn", "numba", "scipy", "pyarrow", "pandas", "polars", "matplotlib", "rich", "typer")
CLASSES = {
    **{cls.__name__: cls for cls in registry.selectors().values()},
    **{cls.__name__: cls for cls in registry.criteria().values()},
    **{cls.__name__: cls for cls in registry.learners()},
    **registry.summaries(),
    **registry.sources(),
}


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_importing_imports_nothing_heavy():
    code = "import sys, streamsieve; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    assert not set(HEAVY) & set(run(code).split())


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from streamsieve.cli import run; run(['--help']); "
        "print('modules', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    modules = run(code).rsplit("modules", 1)[1].split()
    assert not {"sklearn", "numba", "scipy", "pyarrow", "pandas", "matplotlib"} & set(modules)


def test_the_table_of_names_is_that_of_the_folders():
    assert exports.TARGET.read_text() == exports.rendered(), "run: make exports"


def test_all_that_is_public_is_listed():
    listed = dir(ss)
    assert {"criteria", "summaries", "independence", "evaluation", "datasets", "exceptions"} <= set(listed)
    assert {"testing", "registry", "protocols", "rows", "columns", "offline", "sources"} <= set(listed)
    assert all(getattr(ss, name) is not None for name in listed)


@pytest.mark.parametrize("name", ["open", "features", "ArraySource", "SvmlightSource"])
def test_a_source_does_not_import_the_selectors(name):
    code = f"import sys, streamsieve; streamsieve.{name}; print(*sys.modules)"
    loaded = set(run(code).split())
    assert not {"numba", "sklearn", "streamsieve.rows", "streamsieve.columns", "streamsieve.offline"} & loaded


def test_every_selector_is_a_top_level_name():
    for cls in registry.selectors().values():
        assert getattr(ss, cls.__name__) is cls
        assert cls.__name__ in dir(ss)


@pytest.mark.parametrize("name", ["SAOLLA", "Saola"])
def test_a_misspelt_name_gets_a_suggestion(name):
    with pytest.raises(AttributeError, match="did you mean 'SAOLA'"):
        getattr(ss, name)


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_class_explains_itself(name):
    cls = CLASSES[name]
    text = inspect.getdoc(cls) or ""
    first = text.splitlines()[0]
    assert first.endswith("."), f"{name}: the first line says what it is for"
    assert ">>>" in text, f"{name} has no example"
    parameters = [p for p in inspect.signature(cls.__init__).parameters if p not in ("self", "kwargs")]
    for parameter in parameters:
        assert f"\n{parameter} :" in text, f"{name}: parameter {parameter} is not documented"


@pytest.mark.parametrize("name", [cls.__name__ for cls in registry.selectors().values()])
def test_every_selector_cites_its_paper(name):
    assert "References\n----------" in inspect.getdoc(CLASSES[name])


def test_method_names_read_as_words():
    assert {"saola", "alpha_investing", "screen"} <= set(registry.selectors())


def test_an_unknown_method_gets_a_suggestion():
    with pytest.raises(ss.exceptions.ParameterError, match="did you mean 'saola'"):
        registry.selector("saolla")
