"""Which contracts apply to a selector, and how to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from streamsieve.base import ColumnSelector, RowSelector, Selector
from streamsieve.testing import columns, common, rows


def contracts(selector: Selector) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield every contract that applies to a selector, as (name, call).

    Parameters
    ----------
    selector : an instance; it is cloned, never changed
    """
    modules = [common]
    if isinstance(selector, RowSelector):
        modules.append(rows)
    if isinstance(selector, ColumnSelector):
        modules.append(columns)
    for module in modules:
        for name, check in vars(module).items():
            if name.startswith("check_"):
                yield name, partial(check, selector)


def check_selector(selector: Selector) -> None:
    """Run every contract; the first one broken raises ``AssertionError`` and says how.

    Parameters
    ----------
    selector : an instance; it is cloned, never changed

    Examples
    --------
    >>> import streamsieve as ss
    >>> from streamsieve.testing import check_selector
    >>> check_selector(ss.Screen("fisher", k=3))
    """
    for _, check in contracts(selector):
        check()


def parametrize_with_contracts(selectors: Iterable[Selector]) -> Any:
    """Return a pytest decorator: the test gets one ``contract`` at a time, and calls it.

    Parameters
    ----------
    selectors : instances to check
    """
    import pytest  # noqa: PLC0415 - only tests need it

    return pytest.mark.parametrize(
        "contract",
        [
            pytest.param(call, id=f"{selector!r}-{name.removeprefix('check_')}")
            for selector in selectors
            for name, call in contracts(selector)
        ],
    )
