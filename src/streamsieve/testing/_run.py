"""Which contracts apply to a selector, and how to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from streamsieve.base import ColumnSelector, RowSelector, Selector
from streamsieve.testing import columns, common, hooks, rows
from streamsieve.testing._data import named

#: Checks of input and output, the same for all variants of a class.
DOORS = frozenset(
    {
        "check_containers_agree",
        "check_dtypes_agree",
        "check_attributes_can_be_listed",
        "check_bad_sparse_indices",
        "check_labels_are_names",
        "check_frames_stay_frames",
        "check_parameter_errors",
        "check_odd_parameters",
        "check_refusal_changes_nothing",
        "check_value_zoo",
        "check_refit_forgets",
        "check_other_width_is_refused",
        "check_wrong_offers_are_refused",
        "check_late_labels",
        "check_memory_follows_kept",
    }
)


def contracts(selector: Selector, *, doors: bool = True) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield every contract that applies to a selector, as (name, call).

    Parameters
    ----------
    selector : an instance; it is cloned, never changed
    doors : whether to yield the checks of the door as well: containers, types, labels, names, refusals.
        Variants of a class share them, because they share the code that looks at input; the laws of a method
        (chunking, resuming, merging, weights, the ledger) hold or fail for each variant.
    """
    modules = [hooks, common]
    if isinstance(selector, RowSelector):
        modules.append(rows)
    if isinstance(selector, ColumnSelector):
        modules.append(columns)
    for module in modules:
        for name, check in vars(module).items():
            if name.startswith("check_") and (doors or name not in DOORS):
                yield name, partial(check, selector)


def check_selector(selector: Selector) -> None:
    """Run every contract; the first violation raises ``AssertionError`` with an explanation.

    Parameters
    ----------
    selector : an instance; it is cloned, never changed

    Examples
    --------
    >>> import streamsieve as ss
    >>> from streamsieve.testing import check_selector
    >>> check_selector(ss.Screen("fisher", k=3))
    """
    assert not isinstance(selector, type), f"check_selector takes an instance: {selector.__name__}()"
    for name, check in contracts(selector):
        with named(f"{type(selector).__name__} fails in {name}"):
            check()


def parametrize_with_contracts(selectors: Iterable[Selector], *, doors: str = "each") -> Any:
    """Return a pytest decorator: the test gets one ``contract`` at a time, and calls it.

    Parameters
    ----------
    selectors : instances to check
    doors : whether "each" instance passes the checks of the door, or only the first of each class: "once"
    """
    import pytest  # noqa: PLC0415 - only tests need it

    seen: set[type] = set()

    def first(selector: Selector) -> bool:
        new = type(selector) not in seen
        seen.add(type(selector))
        return new

    return pytest.mark.parametrize(
        "contract",
        [
            pytest.param(call, id=f"{shown}-{name.removeprefix('check_')}")
            for selector, shown in ((selector, repr(selector)) for selector in selectors)
            for name, call in contracts(selector, doors=doors == "each" or first(selector))
        ],
    )
