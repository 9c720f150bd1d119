"""The FIRES of the ``float`` package, without the rest of that package.

``import float`` imports scikit-multiflow, which no longer installs.  The selector itself needs NumPy, SciPy
and scikit-learn only, so its two files are loaded by their paths.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def fires_class() -> Any:
    """Return the class ``float.feature_selection.FIRES``, or None where the package is not installed."""
    folder = _installed()
    if folder is None:
        return None
    names = ("float", "float.feature_selection", "float.feature_selection.base_feature_selector")
    before = {name: sys.modules.get(name) for name in names}
    try:
        for name in names[:2]:  # packages that import nothing
            sys.modules[name] = ModuleType(name)
        sys.modules[names[2]] = _load(names[2], folder / "base_feature_selector.py")
        return _load("float.feature_selection.fires", folder / "fires.py").FIRES
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def _installed() -> Path | None:
    for entry in sys.path:
        folder = Path(entry) / "float" / "feature_selection"
        if (folder / "fires.py").is_file() and (folder / "base_feature_selector.py").is_file():
            return folder
    return None


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
