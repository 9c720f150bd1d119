"""How much to test: the quick tier before a commit, the full one before landing (``pytest --full``)."""

FULL = False


def cases(full: int, quick: int | None = None) -> int:
    """Return the number of random cases: all in the full tier, else ``quick``, a fifth by default."""
    return full if FULL else max(1, full // 5) if quick is None else quick


def spread(items: list, most: int) -> list:
    """Return all items in the full tier, else at most ``most``, evenly spread from the first to the last."""
    if FULL or len(items) <= most:
        return items
    return [items[round(k * (len(items) - 1) / (most - 1))] for k in range(most)]
