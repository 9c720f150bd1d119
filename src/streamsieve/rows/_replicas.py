"""Copies of one selector that learn the same rows, each with weights of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from streamsieve._kernels.poisson import poisson_weights
from streamsieve.base import RowSelector
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, BoolArray, IntArray, RowBatch
from streamsieve.rows._ranked import RankedSelector
from streamsieve.state import expect, pack, register, under, unpack, untouched_on_error

#: What all members have from their owner; it is neither copied nor saved with each.
SHARED = ("n_features_in_", "n_rows_seen_", "_fixed_", "_names_in_", "_vocabulary_")
#: Nobody reads the ledger of a replica.
QUIET = {"ledger": "none", "review_every": None}
#: Replicas whose weights are drawn together.
GROUP = 4


@register
class Replicas:
    """The original, which counts every row once, and replicas, which count it as often as lots decide.

    The original learns first.  Replicas see fewer rows, labels and values than it does, so whatever they
    would refuse it has refused before, and a batch is learnt by all or by none.

    Parameters
    ----------
    members : the original, then the replicas; none before :meth:`revive`
    learnt : what members had learnt when they were saved
    """

    def __init__(
        self, members: Sequence[RankedSelector] = (), learnt: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self.members = list(members)
        self._learnt = learnt

    @classmethod
    def begin(cls, selector: RankedSelector, replicas: int, owner: RowSelector, batch: RowBatch) -> Self:
        """Make members like the selector, ready for a first batch."""
        begun = cls(_copies(selector, replicas))
        begun.follow(owner)
        for member in begun.members:
            member._start(batch)  # noqa: SLF001 - validation is the owner's
        return begun

    @property
    def original(self) -> RankedSelector:
        """The member that counts every row once."""
        return self.members[0]

    def follow(self, owner: RowSelector) -> None:
        """Let all members know the owner's features and rows."""
        shared = {name: owner.__dict__[name] for name in SHARED if name in owner.__dict__}
        for member in self.members:
            member.__dict__.update(shared)

    def learn(self, batch: RowBatch, seed: int, first_row: int, owner: RowSelector) -> None:
        """Learn rows, the first of which has the number ``first_row``."""
        original, *replicas = self.members
        n = batch.X.shape[0]
        with untouched_on_error(*self.members):
            self.follow(owner)
            original._learn(batch)  # noqa: SLF001
            for low in range(0, len(replicas), GROUP):
                weights = poisson_weights(seed, first_row, n, low // GROUP)
                # the last group may have fewer replicas
                for member, weight in zip(replicas[low : low + GROUP], weights, strict=False):
                    member._learn(RowBatch(batch.X, batch.y, weight))  # noqa: SLF001

    def merge(self, other: Self, columns: IntArray | None, owner: RowSelector) -> None:
        """Let every member take its twin's rows into account; see ``RowSelector._merge``."""
        self.follow(owner)
        for mine, theirs in zip(self.members, other.members, strict=True):
            mine._merge(theirs, columns)  # noqa: SLF001

    def selections(self) -> Iterator[BoolArray]:
        """Yield what each replica selects."""
        for member in self.members[1:]:
            yield member._support()  # noqa: SLF001

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return what each member has learnt; class and parameters are the owner's to save."""
        texts, arrays = [], Arrays()
        for i, member in enumerate(self.members):
            learnt = {k: v for k, v in member._learnt().items() if k not in SHARED}  # noqa: SLF001
            plain, own = pack(learnt)
            texts.append(plain)
            arrays |= {f"{i}/{key}": array for key, array in own.items()}
        text = np.frombuffer(json.dumps(texts, sort_keys=True).encode(), np.uint8)
        return {"attributes": text, **arrays}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Read what each member has learnt; :meth:`revive` makes members of it."""
        text = expect(arrays, "attributes", np.uint8, (None,)).tobytes()
        try:
            attributes = json.loads(text)
            learnt = [unpack(plain, under(str(i), arrays)) for i, plain in enumerate(attributes)]
        except StateError:
            raise
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError) as error:
            raise StateError(f"the state's replicas do not fit together: {error}") from error
        extra = [
            key for key in arrays if key.split("/")[0] not in {"attributes", *map(str, range(len(learnt)))}
        ]
        if extra or any(name in SHARED for each in learnt for name in each):
            raise StateError("the state's replicas hold more than they have learnt")
        return cls((), learnt)

    def revive(self, selector: RankedSelector, replicas: int, owner: RowSelector) -> None:
        """Make members like the selector, with what they had learnt."""
        if len(self._learnt) != replicas + 1:
            raise StateError(f"the state has {len(self._learnt) - 1} replicas, not {replicas}")
        self.members = _copies(selector, replicas)
        self.follow(owner)
        for i, (member, learnt) in enumerate(zip(self.members, self._learnt, strict=True)):
            member._restore(learnt, f"replica {i}")  # noqa: SLF001
        self._learnt = ()


def _copies(selector: RankedSelector, replicas: int) -> list[RankedSelector]:
    quiet = {name: value for name, value in QUIET.items() if name in selector.get_params(deep=False)}
    return [clone(selector), *(clone(selector).set_params(**quiet) for _ in range(replicas))]
