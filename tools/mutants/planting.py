"""Plant a mutant in a process that has imported the package already."""

import gc
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba.core.caching import NullCache

from tools.mutants.sites import Mutant


class Planting:
    """The functions and kernels of a package that is imported, by the files that define them."""

    def __init__(self, copy: Path, modules: dict[str, ModuleType]) -> None:
        self.copy = copy
        self._functions: dict[str, list[FunctionType]] = defaultdict(list)
        self._kernels: dict[str, list[Any]] = defaultdict(list)
        for each in gc.get_objects():
            if type(each) is FunctionType:  # a proxy may pretend to be one
                self._functions[each.__code__.co_filename].append(each)
        for name, module in [*modules.items()]:
            if name.startswith("streamsieve._kernels."):
                compiled = [each for each in [*vars(module).values()] if hasattr(each, "py_func")]
                self._kernels[str(module.__file__)] = compiled
        self._imported = {getattr(module, "__file__", None) for module in modules.values()}

    def plant(self, mutant: Mutant, source: bytes) -> bool:
        """Replace the code of the functions that a mutant changes, and return whether it is planted.

        Kernels of its file are compiled again when they are called.  A file that is not imported yet needs
        nothing; what runs while a file is imported is not planted.
        """
        path = str(self.copy / mutant.path)
        if path not in self._imported:
            return True
        new = {_key(code): code for code in _codes(compile(mutant.text(source), path, "exec"))}
        old = {_key(code): code for code in _codes(compile(source, path, "exec"))}
        changed = {key for key in new.keys() & old.keys() if new[key] != old[key]}
        planted = False
        for function in self._functions[path]:
            if (key := _key(function.__code__)) in changed:
                if function.__code__.co_freevars != new[key].co_freevars:
                    return False
                function.__code__ = new[key]
                planted = True
        for kernel in self._kernels[path]:
            kernel._cache = NullCache()  # noqa: SLF001
        return planted


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions in that of a module."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno
