"""
Text with a million features
============================

Sparse rows over 2**20 hashed words. A screen keeps counts of what occurs and nothing else; the matrix is never dense (it would take 160 GB).
"""

# %%
# Documents of two topics: most words are common to both, 200 words are three times as frequent in one of them, and rare in both.
import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import streamsieve as ss

plt.style.use("style.mplstyle")
WIDTH, ROWS, WORDS = 2**20, 20_000, 60
rng = np.random.default_rng(0)
topic_words = rng.choice(WIDTH, 200, replace=False)


def documents(n):
    """Return n rows of word counts and their topics."""
    y = rng.integers(0, 2, n)
    words = (WIDTH * rng.random((n, WORDS)) ** 3).astype(
        np.int64
    )  # a few words are common, most are rare
    special = rng.random((n, WORDS)) < np.where(y == 1, 0.03, 0.01)[:, None]
    words[special] = rng.choice(topic_words, special.sum())
    rows = np.repeat(np.arange(n), WORDS)
    return sp.csr_array((np.ones(n * WORDS), (rows, words.ravel())), shape=(n, WIDTH)), y


# %%
# Stream them in batches of 1,000.
screen, seconds = ss.Screen("chi2", k=200), 0.0
recall = []
for _ in range(ROWS // 1_000):
    X, y = documents(1_000)
    start = time.perf_counter()
    screen.partial_fit(X, y)
    seconds += time.perf_counter() - start
    recall.append(np.isin(screen.selected_, topic_words).mean())
print(f"{ROWS:,} rows of {WIDTH:,} features in {seconds:.1f} s")

fig, ax = plt.subplots()
ax.plot(np.arange(1, len(recall) + 1) * 1_000, recall, marker="o", markersize=4)
ax.set(
    xlabel="documents",
    ylabel="topic words among the 200 selected",
    ylim=(0, 1.02),
    title="Chi-squared over a million hashed words",
)
plt.show()
