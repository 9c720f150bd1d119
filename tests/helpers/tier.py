"""How much to test: the quick tier before a commit, the full one before landing (``pytest --full``)."""

FULL = False


def cases(full: int, quick: int | None = None) -> int:
    """Return the number of random cases: all in the full tier, else ``quick``, a fifth by default."""
    return full if FULL else max(1, full // 5) if quick is None else quick
