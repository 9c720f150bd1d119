"""Optional packages: imported when needed, with an error that names the extra to install."""

from __future__ import annotations

import importlib
from typing import Any

from streamsieve.exceptions import CapabilityError

#: The extra of this package that installs another one; those not here are installed under their own name.
_EXTRA = {
    "pyarrow": "streamsieve[cli]",
    "matplotlib": "streamsieve[cli]",
    "dask": "streamsieve[dask]",
    "distributed": "streamsieve[dask]",
    "pyspark": "streamsieve[spark]",
}


def needs(module: str, what: str) -> Any:
    """Import a module of an optional package; if it is missing, raise an error that says how to install it.

    Parameters
    ----------
    module : such as "matplotlib.pyplot"
    what : the feature that needs it, for the message
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise
        raise CapabilityError(
            f"{what} need{'s' * (not what.endswith('s'))} {package}, which is not installed: "
            f"pip install '{_EXTRA.get(package, package)}'"
        ) from error
