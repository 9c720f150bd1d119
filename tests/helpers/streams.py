"""Sources of rows for tests."""

from streamsieve.protocols import RowBatch


class Rows:
    """A source of given rows; its target is known batch by batch only, and reads are counted."""

    n_rows = None

    def __init__(self, X, labels, names=None, weight=None):
        self.X, self.labels, self.names, self.weight, self.reads = X, labels, names, weight, 0

    def rows(self, batch_size=4096, start=None):
        self.reads += 1
        for low in range(0, self.X.shape[0], batch_size):
            part = slice(low, low + batch_size)
            labels, weight = (None if all_ is None else all_[part] for all_ in (self.labels, self.weight))
            yield RowBatch(self.X[part], labels, weight, self.names)
