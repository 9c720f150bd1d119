"""What differs between the answers of two trees, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tools.compare import renames
from tools.compare.answers import LINE


class Difference(NamedTuple):
    """One thing that differs.

    Attributes
    ----------
    kind : what it is, without its place in the stream
    where : its place
    old, new : what the trees say
    """

    kind: str
    where: str
    old: Any
    new: Any


def differences(old: dict[str, Any], new: dict[str, Any], *, texts: bool = False) -> Iterator[Difference]:
    """Yield what differs between the answers to one case.

    Parameters
    ----------
    old, new : what the workers said
    texts : whether the texts of errors count
    """
    compared = _Compared(texts=texts)
    steps = old["steps"], new["steps"]
    for number, (before, after) in enumerate(zip(*steps, strict=False)):
        where = f"step {number} ({before['op']})"
        yield from compared.step(before, after, where)
    if len(steps[0]) != len(steps[1]):
        said = [[f"{s['op']}{': ' + s['raises'] if 'raises' in s else ''}" for s in some] for some in steps]
        yield Difference("number of answers", "whole case", *said)
    if old["warnings"] != new["warnings"]:
        yield Difference("warnings", "whole case", old["warnings"], new["warnings"])


class _Compared:
    """Compare answers; ``selected_`` is a set and, apart from that, an order."""

    def __init__(self, *, texts: bool) -> None:
        self._texts = texts

    def step(self, old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[Difference]:
        if old["op"] != new["op"]:
            yield Difference("which step answers", where, _brief(old), _brief(new))
            return
        error = old.get("raises"), new.get("raises")
        if error[0] is not None or error[1] is not None:
            yield from self._error(old, new, where, old["op"])
            return
        yield from self.value(old.get("answer"), new.get("answer"), old["op"], where)

    def _error(self, old: dict[str, Any], new: dict[str, Any], where: str, kind: str) -> Iterator[Difference]:
        wanted = old.get("raises")
        if (wanted is None) != (new.get("raises") is None) or renames.class_name(wanted or "") != (
            new.get("raises") or ""
        ):
            yield Difference(f"{kind}: error", where, _brief(old), _brief(new))
        elif self._texts and old.get("text") != new.get("text"):
            yield Difference(f"{kind}: text of an error", where, old.get("text"), new.get("text"))

    def value(self, old: Any, new: Any, kind: str, where: str) -> Iterator[Difference]:
        if _same(old, new):
            return
        if isinstance(old, dict) and isinstance(new, dict):
            if "raises" in old or "raises" in new:
                yield from self._error(old, new, where, kind)
            elif "attributes" in old and "attributes" in new:
                yield from self._estimator(old, new, kind, where)
            elif "array" in old and "array" in new:
                yield _array(old, new, kind, where)
            elif "decisions" in old and "decisions" in new:
                yield _lines(old["decisions"], new["decisions"], f"{kind}: decisions", where)
            else:
                yield from self._members(old, new, kind, where)
        elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            for number, (before, after) in enumerate(zip(old, new, strict=True)):
                yield from self.value(before, after, kind, f"{where}[{number}]")
        else:
            yield Difference(kind, where, old, new)

    def _members(
        self, old: dict[str, Any], new: dict[str, Any], kind: str, where: str
    ) -> Iterator[Difference]:
        for name, value in old.items():
            if name in new:
                yield from self.value(value, new[name], f"{kind}: {name}", f"{where}.{name}")
            else:
                yield Difference(f"{kind}: {name}", f"{where}.{name}", value, "(missing)")

    def _estimator(
        self, old: dict[str, Any], new: dict[str, Any], kind: str, where: str
    ) -> Iterator[Difference]:
        cls, theirs = old["class"], new["attributes"]
        mine = renames.with_sorted_classes(cls, old["attributes"])
        if cls != new["class"]:
            yield Difference(f"{kind}: class", where, cls, new["class"])
        for name, value in mine.items():
            at, what = f"{where}.{name}", f"{kind}: {name}"
            renamed = renames.attribute_name(cls, name)
            if renamed not in theirs:
                if not renames.is_dropped(cls, name):
                    yield Difference(what, at, value, "(missing)")
            elif name == "selected_":
                ranked = theirs[renamed] if "ranked_" in mine else theirs.get("ranked_", theirs[renamed])
                yield from _selections(value, theirs[renamed], ranked, f"{kind}: %s of selected_", at)
            elif name == "ledger_":
                if not _same(value, theirs[renamed]):
                    yield _lines(value, theirs[renamed], what, at)
            else:
                yield from self.value(value, theirs[renamed], what, at)
        rest_old, rest_new = (
            {k: v for k, v in e.items() if k not in ("class", "attributes")} for e in (old, new)
        )
        yield from self._members(rest_old, rest_new, kind, where)


def _same(old: Any, new: Any) -> bool:
    """Whether two answers are equal to the bit: 0.0 is not -0.0, and NaN is NaN."""
    return old is new or repr(old) == repr(new)


def _as_set(selected: Any) -> Any:
    return sorted(selected["values"]) if isinstance(selected, dict) and "values" in selected else selected


def _selections(old: Any, new: Any, ranked: Any, kind: str, where: str) -> Iterator[Difference]:
    """Yield whether other features are selected, or the same ones in another order of merit."""
    if _as_set(old) != _as_set(new):
        yield Difference(kind % "set", where, old, new)
    elif not _same(old, ranked):
        yield Difference(kind % "order", where, old, ranked)


def _array(old: dict[str, Any], new: dict[str, Any], kind: str, where: str) -> Difference:
    for what in ("array", "shape"):
        if old[what] != new[what]:
            name = "type" if what == "array" else what
            return Difference(f"{kind}: {name}", where, old[what], new[what])
    pairs = list(zip(old["values"], new["values"], strict=False))
    places = [i for i, (a, b) in enumerate(pairs) if repr(a) != repr(b)]
    if not places:
        return Difference(kind, where, old.get("digest"), new.get("digest"))
    at = places[0]
    where = f"{where}, value {at} ({len(places)} of {len(pairs)} differ)"
    return Difference(kind, where, *pairs[at])


def _lines(old: list[Any], new: list[Any], kind: str, where: str) -> Difference:
    """Return the first line that differs, field by field."""
    for number, (before, after) in enumerate(zip(old, new, strict=False)):
        if not _same(before, after):
            fields = [name for name, a, b in zip(LINE, before, after, strict=True) if not _same(a, b)]
            same_length = "" if len(old) == len(new) else f"; {len(old)} lines and {len(new)}"
            where = f"{where}, line {number}{same_length}"
            return Difference(f"{kind}: {', '.join(fields)}", where, before, after)
    return Difference(f"{kind}: number of lines", where, len(old), len(new))


def _brief(step: dict[str, Any]) -> str:
    if step.get("raises"):
        return f"{step['raises']}: {step.get('text', '')[:160]}"
    return f"{step.get('op', 'an answer')}, no error"
