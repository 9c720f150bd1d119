"""
Craters: features computed only while they are needed
=====================================================

A small version of the case study of Wu et al. (TPAMI 2013): is there a crater in a patch of terrain? Candidates are differences of brightness between
squares of the patch; they are computed one by one until the classifier is good enough. ``examples/craters.py`` does the same on a whole landscape.
"""

# %%
# Patches of 24 x 24 pixels, lit from the west: a crater has a shadow on its western wall and a bright eastern one.
import itertools

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(0)
side, n = 24, 500
crater = rng.integers(0, 2, n)
rows, columns = np.mgrid[:side, :side]
patches = rng.normal(size=(n, side, side))
for number, bowl in enumerate(crater):
    middle, radius = 12 + rng.normal(size=2), rng.uniform(5, 9)
    inside = np.hypot(rows - middle[0], columns - middle[1]) < radius
    slope = (columns - middle[1]) / radius
    patches[number] += 1.2 * bowl * inside * slope + (1 - bowl) * rng.normal() * columns / side

# %%
# Each candidate is a function; what comes after the stop is never computed.
squares = [
    (r, c, size)
    for size in (6, 8, 12)
    for r in range(0, side - size + 1, size)
    for c in range(0, side - size + 1, size)
]


def brightness(r, c, size):
    return patches[:, r : r + size, c : c + size].mean(axis=(1, 2))


def candidates():
    for a, b in itertools.combinations(squares, 2):
        yield f"{a} - {b}", lambda a=a, b=b: brightness(*a) - brightness(*b)


def accuracy(kept):
    return cross_val_score(KNeighborsClassifier(9), kept, crater, cv=5).mean()


enough = ss.Stop(target=0.93, accuracy=accuracy)
sieve = ss.run(ss.features(candidates, crater), ss.FastOSFS(stop=enough))
total = len(squares) * (len(squares) - 1) // 2
print(f"{sieve.n_features_in_} of {total} features computed")
print(f"{len(sieve.selected_)} kept; {sieve.stopped_}")

# %%
# The kept features, as squares on the mean crater: minus (orange) and plus (blue).
fig, axes = plt.subplots(1, 3, figsize=(7.2, 2.8))
for ax, picture, title in zip(
    axes,
    (patches[crater == 1][0], patches[crater == 0][0], patches[crater == 1].mean(axis=0)),
    ("a crater", "none", "kept features"),
    strict=True,
):
    ax.imshow(picture, cmap="gray")
    ax.set(title=title, xticks=[], yticks=[])
for name in sieve.get_feature_names_out():
    for square, color in zip(name.split(" - "), ("#2a9fd6", "#e07b39"), strict=True):
        r, c, size = map(int, square.strip("()").split(","))
        axes[2].add_patch(
            plt.Rectangle(
                (c - 0.5, r - 0.5), size, size, fill=False, edgecolor=color, linewidth=1.5
            )
        )
plt.show()
