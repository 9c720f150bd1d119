"""What the tests of the command line share."""

import pytest

from streamsieve.cli import run


@pytest.fixture
def refused(capsys):
    """A command is refused with exit code 2 and one line, which holds the parts given and is returned."""

    def check(arguments, *parts):
        capsys.readouterr()
        assert run([str(argument) for argument in arguments]) == 2
        captured = capsys.readouterr()
        error = captured.err.removeprefix("compiling kernels, once per machine ...\n")
        assert error.startswith("error: ")
        assert error.count("\n") == 1
        assert captured.out == ""
        for part in parts:
            assert part in error
        return error

    return check


def contents(folder):
    """Return the files under a folder, and what they hold."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
