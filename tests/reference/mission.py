"""Slow twin of ``streamsieve.rows.mission``: one row at a time, dictionaries for everything.

For each row: 1. f = sum of w_j x_j over the features of the row that are in the heap.  2. Each model's step
is ``rate * (y - sigmoid(f))``.  3. Every feature of the row adds sign * step * x to its bucket in each row of
the sketch.  4. Its weight is the median of what it sees there; those in the heap get it as their key, then
the others come in if they are better than the worst.  Every k rows all keys of the heap are read again.

Deviations from the authors' code (MISSION, ICML 2018): f uses weights as the sketch has them now; no slack of
5 % before a feature comes in; members move before strangers come, so that the order of columns has no effect.

Source: Aghazadeh et al., ICML 2018.
"""

import math
from statistics import median

import numpy as np

WORD = 2**64 - 1


def shuffled(h):
    """The finalizer of MurmurHash3 for 64 bits."""
    h ^= h >> 33
    h = h * 0xFF51AFD7ED558CCD & WORD
    h ^= h >> 33
    h = h * 0xC4CEB9FE1A85EC53 & WORD
    return h ^ h >> 33


def name_id(name):
    """Two polynomials in the bytes of a name, over the prime field of 2**31 - 1."""
    a = b = 1
    for byte in name.encode("utf-8", "surrogatepass"):
        a = (a * 0x3C6EF372 + byte + 1) % (2**31 - 1)
        b = (b * 0x2545F491 + byte + 1) % (2**31 - 1)
    return a * 2**31 + b


def sigmoid(f):
    return 1 / (1 + math.exp(-f)) if f > -700 else 0.0


class Sketch:
    """A vector of unlimited length in ``depth`` rows of ``width`` buckets."""

    def __init__(self, width, depth, seed):
        self.width, self.depth = width, depth
        self.seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(depth, np.uint64)]
        self.cells = {}

    def places(self, j):
        """Yield the bucket and the sign of a feature in every row."""
        for r, seed in enumerate(self.seeds):
            h = shuffled(j ^ seed)
            yield (r, (h >> 33) * self.width >> 31), 1 - 2 * (h & 1)

    def add(self, j, amount):
        for place, sign in self.places(j):
            self.cells[place] = self.cells.get(place, 0.0) + sign * amount

    def __getitem__(self, j):
        return median(sign * self.cells.get(place, 0.0) for place, sign in self.places(j))

    def scale(self, factor):
        self.cells = {place: value * factor for place, value in self.cells.items()}


class Plain(dict):
    """A vector that is simply remembered: what a sketch of unlimited width holds."""

    def __getitem__(self, j):
        return self.get(j, 0.0)

    def add(self, j, amount):
        self[j] = self[j] + amount

    def scale(self, factor):
        for j in self:
            self[j] = self[j] * factor


class Mission:
    """A model for up to two labels, one for each of more."""

    def __init__(self, k, new_vector, learning_rate=0.5, half_life=None):
        self.k, self.rate = k, learning_rate
        self.new_vector = new_vector
        self.fade = 1.0 if half_life is None else 0.5 ** (1 / half_life)
        self.models, self.labels, self.keys = [new_vector()], [], {}
        self.rows = self.mistakes = 0
        #: Every step that was taken: which model, which feature, how much.
        self.steps = []

    def norm(self, j):
        return sum(abs(model[j]) for model in self.models)

    def refresh(self):
        self.keys = {j: self.norm(j) for j in self.keys}

    def meet(self, label):
        """Make a label known; the third one ends the time of the single model."""
        self.labels.append(label)
        if len(self.labels) < 3:
            return
        if len(self.labels) == 3:
            mirror = self.new_vector()
            held = mirror if isinstance(mirror, Plain) else mirror.cells
            mine = self.models[0] if isinstance(mirror, Plain) else self.models[0].cells
            held.update({place: -value for place, value in mine.items()})
            self.models.append(mirror)
        self.models.append(self.new_vector())
        self.refresh()

    def learn(self, row, label):
        for model in self.models:
            model.scale(self.fade)
        self.keys = {j: key * self.fade for j, key in self.keys.items()}
        if label not in self.labels:
            self.meet(label)
        row = {j: x for j, x in row.items() if x != 0}
        outputs = [sum(model[j] * x for j, x in row.items() if j in self.keys) for model in self.models]
        code = self.labels.index(label)
        if len(outputs) == 1:
            self.mistakes += not (outputs[0] if code == 0 else -outputs[0]) > 0
        else:
            self.mistakes += any(outputs[m] >= outputs[code] for m in range(len(outputs)) if m != code)
        for m, f in enumerate(outputs):
            for j, x in row.items():
                step = self.rate * ((m == code) - sigmoid(f)) * x
                self.models[m].add(j, step)
                self.steps.append((m, j, step))
        new = {j: self.norm(j) for j in row}
        self.keys |= {j: key for j, key in new.items() if j in self.keys}
        everyone = new | self.keys
        best = sorted(everyone, key=lambda j: (-everyone[j], j))[: self.k]
        self.keys = {j: everyone[j] for j in best}
        self.rows += 1
        if self.rows % self.k == 0:
            self.refresh()

    def score(self, j):
        """The score of a feature as the next row would meet it."""
        return self.norm(j) * self.fade

    @property
    def selected(self):
        return sorted(self.keys, key=lambda j: (-self.score(j), j))


def sketched(k, width, depth, seed=0, **parameters):
    return Mission(k, lambda: Sketch(width, depth, seed), **parameters)


def truncated_descent(k, **parameters):
    """Plain stochastic gradient descent in which only the k largest weights predict."""
    return Mission(k, Plain, **parameters)
