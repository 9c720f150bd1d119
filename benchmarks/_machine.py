"""What the figures were taken on."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "river", "streamsieve")


def machine() -> str:
    """Return one line: processor, cores, memory, Python and the packages that matter."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [_processor(), f"{_cores()} cores", f"{memory:.0f} GB RAM", platform.system()]
    parts.append(f"Python {platform.python_version()}")
    return ", ".join([*parts, *(f"{name} {_version(name)}" for name in PACKAGES)])


def load() -> str:
    """Return how busy the machine is, for the reader to judge the figures by."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(absent)"
