"""Laws of every summary; see :class:`streamsieve.protocols.Summary`."""

from __future__ import annotations

from functools import partial

import numpy as np

from streamsieve.exceptions import InputError, MergeError, SchemaError, TargetError
from streamsieve.protocols import Fades, Subtracts
from streamsieve.summaries.nesting import innermost, lacks
from streamsieve.testing._data import named
from streamsieve.testing._summary_rows import (
    FORMS,
    Batch,
    Make,
    P,
    Read,
    cut,
    known,
    learned,
    refused,
    rows,
    same,
    same_bits,
)


def check_summary(make: Make, read: Read | None = None) -> None:
    """Check every law of a summary; the first violation raises ``AssertionError`` with its name.

    Parameters
    ----------
    make : returns an empty summary; it is called many times
    read : returns what a summary knows as a list of arrays.  If None, its ``blocks()`` (arrays or tuples of
        arrays), ``tables(5)`` or ``moments()``.

    Notes
    -----
    What a sparse row does not hold is 0: a feature that appears late was 0 in every earlier row, and a place
    that ``reindexed`` leaves empty must read like a feature that was 0 in every row.

    NaN is a missing value, in dense and in sparse rows.  A summary either skips it, feature by feature, or
    refuses it with an ``InputError``.

    Examples
    --------
    >>> from streamsieve.summaries import Moments, Window
    >>> from streamsieve.testing import check_summary
    >>> check_summary(lambda: Window(Moments(), size=50))
    """
    assert callable(make), f"check_summary takes what makes an empty summary, such as its class; got {make!r}"
    for law in (
        has_the_members, starts_empty, batches_are_immaterial, fields_are_declared, merging_is_concatenating,
        merging_refuses, weights_are_copies, labels_come_late, features_come_late, reindexing_moves_columns,
        forgetting_is_missing, nan_is_missing, removing_undoes_updating, states_round_trip,
        refused_rows_leave_no_trace,
    ):  # fmt: skip
        with named(f"the summary raises where this must hold: {law.__doc__}"):
            law(make, known if read is None else read)


def has_the_members(make: Make, read: Read) -> None:  # noqa: ARG001
    """Every member of the protocol is there."""
    summary = make()
    missing = lacks(summary)
    name = type(summary).__name__
    assert missing is None, f"{name} has no `{missing}`, which protocols.Summary asks for"
    assert summary.target in ("classes", "numeric"), f"{name}.target must be 'classes' or 'numeric'"


def starts_empty(make: Make, read: Read) -> None:  # noqa: ARG001
    """An empty summary has no rows, features or labels, and batches without rows change nothing."""
    summary = make()
    facts = summary.n_rows, summary.n_features, list(summary.classes)
    assert facts == (0, 0, []), f"an empty summary has (n_rows, n_features, classes) = {facts}"
    batch = rows(summary, 0)
    before = summary.state()
    summary.update(batch.X, batch.y)
    summary.update(*rows(summary, 3), np.zeros(3))
    same_bits(before, summary.state(), "a batch without rows, or with rows of weight 0, changed the summary")


def fields_are_declared(make: Make, read: Read) -> None:  # noqa: ARG001
    """A state is read back, also of features that were forgotten."""
    for form, convert in FORMS.items():
        first, second = cut(rows(make(), 40), 20)
        summary = learned(make, [first], form)
        name = type(summary).__name__
        for forgotten in ([], [1, 3]):
            summary.forget(np.array(forgotten, dtype=np.int64))
            with named(
                f"{name} does not come back from its state: its `fields` must declare every attribute that "
                "it needs to go on, with its type, its shape and the values that it may have"
            ):
                again = type(summary).from_state(summary.state())
                again.update(convert(second.X), second.y)
                again.copy()
        assert isinstance(summary.nbytes, (int, np.integer)), f"{name}.nbytes must be a number of bytes"


def batches_are_immaterial(make: Make, read: Read) -> None:
    """Batches of any size give what one batch gives."""
    for form in FORMS:
        batch = rows(make(), 60)
        whole = learned(make, [batch], form)
        for size in (1, 7):
            parts = learned(make, cut(batch, size), form)
            same(
                read(whole), read(parts), f"{form} batches of {size} rows give another summary than one batch"
            )


def merging_is_concatenating(make: Make, read: Read) -> None:
    """Merging is learning the other's rows next; the other is left as it was."""
    for form in FORMS:
        batch = rows(make(), 60)
        left, middle, right = (learned(make, [part], form) for part in cut(batch, 20))
        before = middle.state()
        left.merge(middle)
        left.merge(right)
        same(read(learned(make, [batch], form)), read(left), f"{form}: merging differs from concatenating")
        assert left.n_rows == learned(make, [batch], form).n_rows, f"{form}: merging lost count of rows"
        same_bits(before, middle.state(), f"{form}: merging changed the other summary")
        state = left.state()
        left.merge(make())
        same_bits(state, left.state(), f"{form}: merging an empty summary changed something")
        empty = make()
        empty.merge(right)
        same(read(right), read(empty), f"{form}: an empty summary that merges another differs from it")
        right.merge(right)
        twice = learned(make, [Batch(*(np.concatenate([a, a]) for a in cut(batch, 20)[2]))], form)
        same(
            read(twice), read(right), f"{form}: merging a summary with itself is not learning its rows twice"
        )


def merging_refuses(make: Make, read: Read) -> None:  # noqa: ARG001
    """Something else than a summary of the same class does not merge."""
    refused(MergeError, lambda: make().merge(object()), "merging an object of another class")


def weights_are_copies(make: Make, read: Read) -> None:
    """Weight 0 is no row, and without fading weight k is the same as k copies of the row."""
    rng = np.random.default_rng(3)
    for form, convert in FORMS.items():
        batch = rows(make(), 20)
        weight = rng.integers(0, 3, 20).astype(float)
        weighted = make()
        weighted.update(convert(batch.X), batch.y, weight)
        there = np.flatnonzero(weight)
        present = make()
        present.update(convert(batch.X[there]), batch.y[there], weight[there])
        same(read(present), read(weighted), f"{form}: rows of weight 0 count")
        if getattr(innermost(weighted), "half_life", None) is None:
            copies = np.repeat(np.arange(20), weight.astype(int))
            repeated = learned(make, [Batch(batch.X[copies], batch.y[copies])], form)
            same(read(repeated), read(weighted), f"{form}: weight k differs from k copies")


def labels_come_late(make: Make, read: Read) -> None:
    """A label that appears late counts as one that was there from the start."""
    if make().target != "classes":
        return
    for form in FORMS:
        batch = rows(make(), 40)
        y = np.sort(batch.y)
        once, late = (
            learned(make, parts, form) for parts in ([Batch(batch.X, y)], cut(Batch(batch.X, y), 10))
        )
        assert sorted(late.classes) == [0, 1, 2], f"{form}: classes are {late.classes}, not 0, 1 and 2"
        same(read(once), read(late), f"{form}: late labels give another summary")


def features_come_late(make: Make, read: Read) -> None:
    """In sparse rows, a feature that appears late was 0 before."""
    first, second = cut(rows(make(), 40), 20)
    narrow = first.X.copy()
    narrow[:, 3:] = 0.0
    late = learned(make, [Batch(first.X[:, :3], first.y), second], "sparse")
    wide = learned(make, [Batch(narrow, first.y), second], "sparse")
    assert late.n_features == P, f"n_features is {late.n_features} after rows with {P}"
    same(
        read(wide),
        read(late),
        "late features of sparse rows were not 0 before: a feature must read as if it had been 0 in the rows "
        "before its first",
    )


def reindexing_moves_columns(make: Make, read: Read) -> None:
    """``reindexed`` is the summary of rows whose columns were moved, and leaves the summary as it was."""
    batch = rows(make(), 40)
    columns = np.array([4, 0, 6, 2, 1])
    wide = np.zeros((40, 7))
    wide[:, columns] = batch.X
    summary = learned(make, [batch], "sparse")
    before = summary.state()
    moved = summary.reindexed(columns, 7)
    same(
        read(learned(make, [Batch(wide, batch.y)], "sparse")),
        read(moved),
        "reindexed moved columns wrongly, or a place without a feature does not read as one that was 0 in "
        "every row",
    )
    same_bits(before, summary.state(), "reindexed changed the summary itself")
    order = np.array([2, 0, 1, 4, 3])
    back = learned(make, [batch], "dense").reindexed(order, P).reindexed(np.argsort(order), P)
    same(read(learned(make, [batch], "dense")), read(back), "reindexing there and back changed the summary")
    refused(SchemaError, lambda: summary.reindexed(np.array([0, 0, 1, 2, 3]), 7), "two features in one place")


def forgetting_is_missing(make: Make, read: Read) -> None:  # noqa: ARG001
    """``forget`` keeps rows and features, the summary goes on, and unknown features are refused."""
    for form, convert in FORMS.items():
        first, second = cut(rows(make(), 40), 20)
        summary = learned(make, [first], form)
        summary.forget(np.array([1, 3]))
        assert (summary.n_rows, summary.n_features) == (20, P), f"{form}: forgetting features lost rows"
        summary.update(convert(second.X), second.y)
        again = type(summary).from_state(summary.state())
        same_bits(
            summary.state(), again.state(), f"{form}: a summary that forgot features reads back differently"
        )
        refused(SchemaError, partial(summary.forget, np.array([P])), "forgetting a feature that is not there")


def nan_is_missing(make: Make, read: Read) -> None:
    """NaN is skipped, feature by feature, or refused; it is never a value such as 0."""
    columns = np.array([1, 3])
    for form, convert in FORMS.items():
        batch = rows(make(), 30)
        summary = learned(make, [batch], form)
        before, gone = summary.state(), np.full_like(batch.X, np.nan)
        try:
            summary.update(convert(gone), batch.y)
        except InputError:
            same_bits(before, summary.state(), f"{form}: refused missing values left a trace")
            continue
        # a window may have dropped rows, and the weight of a row depends on the rows after it under fading
        if summary.n_rows == 60 and getattr(innermost(summary), "half_life", None) is None:
            alone = read(learned(make, [batch], form))
            same(alone, read(summary), f"{form}: rows that hold nothing but NaN change what is known")
        without = batch.X.copy()
        without[:, columns] = np.nan
        forgot = learned(make, [batch], form)
        forgot.forget(columns)
        same(
            read(forgot),
            read(learned(make, [Batch(without, batch.y)], form)),
            f"{form}: features that are NaN in every row differ from features that were forgotten",
        )


def removing_undoes_updating(make: Make, read: Read) -> None:
    """Where rows can be removed, removing undoes updating, and rows of an unknown class are refused."""
    if not isinstance(make(), Subtracts) or make().half_life is not None:
        return
    for form, convert in FORMS.items():
        first, second = cut(rows(make(), 40), 20)
        summary = learned(make, [first, second], form)
        summary.remove(convert(second.X), second.y)
        same(
            read(learned(make, [first], form)),
            read(summary),
            f"{form}: removing rows does not undo adding them",
        )
        unknown = partial(summary.remove, convert(first.X), np.full(20, 9))
        refused(InputError, unknown, "removing rows of a class that was never added")


def states_round_trip(make: Make, read: Read) -> None:
    """After merges and fading, a state is read back bit for bit, shares nothing, and goes on identically."""
    for form, convert in FORMS.items():
        parts = cut(rows(make(), 80), 20)
        summary = learned(make, parts[:1], form)
        summary.merge(learned(make, parts[1:2], form))
        if isinstance(make(), Fades):
            summary.fade(0.5)
            assert summary.n_rows == 40, f"{form}: fading changed the number of rows"
        summary.update(convert(parts[2].X), parts[2].y)
        state = summary.state()
        again = type(summary).from_state(state)
        same_bits(state, again.state(), f"{form}: a state changes when it is read back")
        same(read(summary), read(again), f"{form}: a summary read back answers differently")
        for one in (summary, again):
            one.update(convert(parts[3].X), parts[3].y)
        same_bits(summary.state(), again.state(), f"{form}: a summary read back goes on differently")
        for array in state.values():
            array[...] = array.dtype.type(0)
        same_bits(summary.state(), again.state(), f"{form}: a state shares memory with its summary")


def refused_rows_leave_no_trace(make: Make, read: Read) -> None:  # noqa: ARG001
    """Infinite values, and labels of another kind, are refused and change nothing."""
    for form, convert in FORMS.items():
        first, second = cut(rows(make(), 40), 20)
        summary = learned(make, [first], form)
        before = summary.state()
        bad = second.X.copy()
        bad[-1, 2] = np.inf
        refused(InputError, partial(summary.update, convert(bad), second.y), "an infinite value")
        if summary.target == "classes":
            text = partial(summary.update, convert(second.X), np.array(["a", "b", "c"])[second.y])
            refused(TargetError, text, "text among whole numbers as labels")
        same_bits(before, summary.state(), f"{form}: refused rows left a trace")
