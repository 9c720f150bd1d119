"""Rows and columns at once, by keeping everything and computing everything again at every question.

What is remembered: every row and every target that ever came; for each column the values it was given, as
long as it is kept; and every column offered since the last review, kept or not.  A question is answered by a
fresh selector, begun with the targets of the rows held at the last review, and offered first the columns that
came out of it, then all columns offered since.
"""

import numpy as np
from sklearn.base import clone


class SlowTwoWay:
    """The slow twin: plain lists, no state of any selector survives a call."""

    def __init__(self, column_selector, row_screen=None, window=None, review_every=None):
        self.column_selector, self.row_screen = column_selector, row_screen
        self.window, self.review_every = window, review_every

    def begin(self, y):
        self.y = list(y)
        self.judged = self.held()  # (first, last + 1) of the rows of the last review
        self.reviewed = []  # columns after the row screen had its word at the last review
        self.since = []  # columns offered since, whatever became of them
        self.values = {}  # of all columns of these two lists: row -> value
        self.changed = self.held()  # rows held when the kept columns last changed
        self.number = 0
        self.gone = []  # what reviews evicted, with the number of columns offered by then
        return self

    def held(self):
        n = len(self.y)
        return (0 if self.window is None else max(0, n - self.window), n)

    def matrix(self, columns, rows):
        return np.array([[self.values[c][i] for c in columns] for i in range(*rows)]).reshape(
            -1, len(columns)
        )

    def fitted(self):
        """Return a selector that knows what ours knows, and the columns it was offered."""
        columns = self.reviewed + self.since
        sieve = clone(self.column_selector).begin(np.array(self.y[slice(*self.judged)]))
        for j in range(len(columns)):
            sieve.offer(self.matrix(columns[j : j + 1], self.judged)[:, 0])
        return sieve, columns

    def kept(self):
        sieve, columns = self.fitted()
        return [columns[i] for i in sieve.selected_]

    def offer(self, column):
        self.review()
        before = self.kept()
        rows = range(*self.held())
        self.values[self.number] = dict(zip(rows, column, strict=True))
        self.since.append(self.number)
        self.number += 1
        if self.kept() != before:
            self.changed = self.held()
        return self.fitted()[0].ledger_[-1]

    def learn(self, rows, y):
        """Take rows with a value for every column ever offered; only those of kept columns are looked at."""
        kept = self.kept()
        for row, target in zip(rows, y, strict=True):
            for column in kept:
                self.values[column][len(self.y)] = row[column]
            self.y.append(target)
            due = self.review_every and len(self.y) % self.review_every == 0
            if due and len(set(self.y[slice(*self.held())])) > 1:
                self.review()
                kept = self.kept()

    def review(self):
        if self.judged[1] == len(self.y):
            return
        kept = self.kept()
        stay = kept
        if self.row_screen is not None and kept:
            screen = clone(self.row_screen)
            if screen.k is not None:
                screen.set_params(k=min(screen.k, len(kept)))
            rows = (self.changed[0], len(self.y))
            screen.fit(self.matrix(kept, rows), np.array(self.y[slice(*rows)]))
            stay = [c for c, good in zip(kept, screen.get_support(), strict=True) if good]
        self.judged, self.reviewed, self.since = self.held(), stay, []
        left = [c for c in kept if c not in self.kept()]
        self.gone += [(self.number, c) for c in left]
        if left:
            self.changed = self.held()
