"""Build wheel and sdist, check them, install each extra into an empty environment and use it.

``python -m tools.release [--only NAME ...] [--tag TAG]``; the files stay in ``dist/``.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from tools.release.uses import USES

ROOT = Path(__file__).resolve().parents[2]
LOWEST = ROOT / "tools" / "lowest.txt"


class Trial(NamedTuple):
    """What is installed into an empty environment, and which programs run there."""

    extra: str
    uses: tuple[str, ...]
    sdist: bool = False
    lowest: bool = False  # the oldest supported versions; otherwise pip takes the newest


#: By name: the package alone, every extra, all of them, the oldest versions, and from source.
TRIALS = {
    "core": Trial("", ("",)),
    **{extra: Trial(extra, (extra,)) for extra in USES if extra},
    "all": Trial("all", tuple(USES)),
    "lowest": Trial("cli", ("", "cli", "parquet", "plot"), lowest=True),
    "sdist": Trial("", ("",), sdist=True),
}
#: What a wheel must contain beside the code; an sdist has every file of the repository.
IN_WHEEL = ["streamsieve/py.typed"]


def main() -> int:
    """Run the checks; return 1 at the first that fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(TRIALS), default=list(TRIALS), metavar="NAME")
    parser.add_argument(
        "--tag", help="the tag to release: version, changelog and citation must agree with it"
    )
    options = parser.parse_args()
    wrong = disagreements(options.tag, ROOT) if options.tag else []
    if wrong:
        _say("\n".join(wrong))
        return 1
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", "dist", ".")
    wheel, sdist = (next((ROOT / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    _run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
    missing = [*_missing(_members(sdist), _tracked()), *_missing(_members(wheel), IN_WHEEL)]
    if missing:
        _say(f"missing from the files to release: {', '.join(missing)}")
        return 1
    for name in options.only:
        trial = TRIALS[name]
        _try(sdist if trial.sdist else wheel, trial)
        _say(f"ok: {name}")
    return 0


def disagreements(tag: str, root: Path) -> list[str]:
    """Return what does not agree with a tag: the version, the changelog, the citation."""
    version = tag.removeprefix("v")
    fragments = [path.name for path in (root / "changelog.d").glob("*.md") if path.name != "README.md"]
    wanted = {
        f"the version is not {version}": f'"{version}"' in (root / "src/streamsieve/_version.py").read_text(),
        f"CHANGELOG.md has no section {version}: towncrier build --version {version}": (
            f"\n## {version} (" in (root / "CHANGELOG.md").read_text()
        ),
        f"changelog.d holds {len(fragments)} fragments that are not in CHANGELOG.md": not fragments,
        f"CITATION.cff is not of {version}": f"\nversion: {version}\n" in (root / "CITATION.cff").read_text(),
    }
    return [problem for problem, met in wanted.items() if not met]


def _tracked() -> list[str]:
    command = ("git", "ls-files")
    return subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()  # noqa: S603


def _members(file: Path) -> list[str]:
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as sdist:
        return sdist.getnames()


def _missing(members: list[str], wanted: list[str]) -> list[str]:
    """Return what is missing; the members of an sdist are in a folder of their own."""
    there = {name for member in members for name in (member, member.partition("/")[2])}
    return [name for name in wanted if name not in there]


def _try(file: Path, trial: Trial) -> None:
    """Install a file with an extra into an empty environment, and run its programs there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        name = f"streamsieve[{trial.extra}] @ {file.as_uri()}" if trial.extra else str(file)
        limits = ("--constraint", str(LOWEST)) if trial.lowest else ()
        _run(
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--disable-pip-version-check",
            *limits,
            name,
        )
        for use in trial.uses:
            _run(python, "-c", dedent(USES[use]), folder=Path(folder))


def _run(*command: str, folder: Path = ROOT) -> None:
    """Run a command that sees installed packages only, whatever PYTHONPATH says."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, check=True, cwd=folder, env=alone)  # noqa: S603 - our own commands


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()  # beside what the commands print


if __name__ == "__main__":
    sys.exit(main())
