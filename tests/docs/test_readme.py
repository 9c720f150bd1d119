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


@pytest.mark.parametrize("number", range(3))
def test_examples_print_what_their_comments_claim(number, tmp_path):
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(examples) == len(CLAIMS)
    command = [sys.executable, "-W", "error", "-c", PREAMBLE + examples[number]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    for claim in CLAIMS[number]:
        assert claim in examples[number]
        assert claim in done.stdout


def test_all_features_score_what_the_readme_says():
    data = load_breast_cancer()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    score = cross_val_score(model, data.data, data.target, scoring="roc_auc").mean()
    assert f"with all 30: {score:.3f}" in README


@pytest.mark.parametrize("number", range(3))
def test_commands_run(number, tmp_path):
    data = load_breast_cancer()
    table = np.c_[data.data, data.target]
    names = ",".join([*data.feature_names, "outcome"])
    np.savetxt(tmp_path / "patients.csv", table, delimiter=",", header=names, comments="")
    block = re.search(r"```sh\n(streamsieve .*?)```", README, re.DOTALL)[1]
    command = shlex.split(block.splitlines()[number])
    if command[1] == "compare":
        if not tier.FULL:
            pytest.skip("a comparison takes a minute: full tier")
        command += ["--runs", "1", "--folds", "3"]
    run = [sys.executable, "-c", PREAMBLE + "from streamsieve.cli import main; main()", *command[1:]]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "mean radius" in done.stdout if command[1] == "select" else done.stdout


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
