"""What the README and the docs say is what the code does."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from streamsieve import registry
from streamsieve.cli import methods
from tests.docs.checks import dead_links, run_examples
from tests.helpers import tier
from tools import exports

ROOT = Path(__file__).parents[2]
#: Pages that the build of the site writes.
GENERATED = tuple(line for line in (ROOT / ".gitignore").read_text().split() if line.startswith("docs/"))
WRITTEN = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not page.relative_to(ROOT).as_posix().startswith(GENERATED)
]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *WRITTEN]
#: Pages with examples; those of docs/extend have a test of their own.
EXAMPLES = [page for page in WRITTEN if "extend" not in page.parts and "```python\n" in page.read_text()]
README = (ROOT / "README.md").read_text()


def test_the_table_of_methods_is_the_registry():
    page = (ROOT / "docs" / "methods.md").read_text()
    written = page.split("-->\n", 1)[1].split("\n<!-- end of methods", 1)[0]
    assert written == methods.markdown(), "run: make exports"


def test_methods_and_criteria_named_in_the_readme_are_the_registry():
    assert exports.readme(README) == README, "run: make exports"
    section = README.split("## Methods\n", 1)[1].split("\n## ", 1)[0]
    for name in (*(row["class"] for row in methods.rows()), *registry.criteria()):
        assert f"`{name}`" in section, f"{name} is missing under Methods"


#: Libraries of dataframes, which the installation of the README does not bring.
ABSENT = ("pandas", "polars")
PREAMBLE = f"""
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *more):
        return None if name.partition(".")[0] in {ABSENT} else self.finder.find_spec(name, *more)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path = [Without(finder) for finder in sys.meta_path]
"""


def test_the_installation_of_the_readme_lacks_what_its_examples_do_without():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    installed = " ".join([*project["dependencies"], *project["optional-dependencies"]["cli"]])
    assert not any(name in installed for name in ABSENT)
    assert "pip install '.[cli]'" in README


CLAIMS = [
    (
        "2 classes (0 212, 1 357); 4 of 30 features kept",
        "mean texture: evicted, redundant given {worst texture}",
        "0.993",
    ),
    ("[68 55 47 50 51]",),
    ("['worst texture' 'worst concave points']", "mean radius: evicted, redundant given {mean perimeter}"),
]


def in_one_process(*scripts, folder, options=()):
    """Return what each script prints, one after the other in one new Python, without each other's names."""
    end = "-- end of a script"
    code = PREAMBLE + "".join(f"exec({script!r}, {{}})\nprint({end!r})\n" for script in scripts)
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(end)[:-1]


def test_examples_print_what_their_comments_claim(tmp_path):
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    printed = in_one_process(*examples, folder=tmp_path, options=("-W", "error"))
    for example, said, claims in zip(examples, printed, CLAIMS, strict=True):
        for claim in claims:
            assert claim in example
            assert claim in said


def test_all_features_score_what_the_readme_says():
    data = load_breast_cancer()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    score = cross_val_score(model, data.data, data.target, scoring="roc_auc").mean()
    assert f"with all 30: {score:.3f}" in README


FEW = ["--runs", "1", "--folds", "3"]


def test_commands_run(tmp_path):
    data = load_breast_cancer()
    table = np.c_[data.data, data.target]
    names = ",".join([*data.feature_names, "outcome"])
    np.savetxt(tmp_path / "patients.csv", table, delimiter=",", header=names, comments="")
    block = re.search(r"```sh\n(streamsieve .*?)```", README, re.DOTALL)[1]
    assert " compare " in block
    # a comparison takes a minute
    lines = (line for line in block.splitlines() if tier.FULL or " compare " not in line)
    commands = [[*shlex.split(line)[1:], *FEW * (" compare " in line)] for line in lines]
    scripts = [f"from streamsieve.cli import run\nassert run({command!r}) == 0" for command in commands]
    for command, said in zip(commands, in_one_process(*scripts, folder=tmp_path), strict=True):
        assert "mean radius" in said if command[0] == "select" else said


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_examples(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert dead_links(page, ROOT, GENERATED) == []


def test_goals_named_exist():
    makefile = (ROOT / "Makefile").read_text()
    for goal in re.findall(r"make ([a-z-]+)", README + (ROOT / "CONTRIBUTING.md").read_text()):
        assert f"\n{goal}:" in makefile, goal


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_named_in_docs_exist(page):
    for path in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./]+)`", page.read_text()):
        assert (ROOT / path).exists(), f"{page.name} speaks of {path}"
