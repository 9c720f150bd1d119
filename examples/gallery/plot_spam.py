"""
Spam that drifts
================

Spammers change their words. Mail arrives in order; a screen keeps the words that separate spam from mail, and a linear model behind it is tested on each
batch before it learns from it. Forgetting follows the words, and costs rows: the shorter the half-life, the noisier the selection. Where ``STREAMSIEVE_DATA`` holds the SpamAssassin stream, that is used; otherwise a stream of words is
generated.
"""

# %%
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier

import streamsieve as ss
from streamsieve import datasets

plt.style.use("style.mplstyle")


def generated(n=6_000, words=3_000, seed=0):
    """Return counts of words; of 120 words of spam, 30 go out of use every 1,500 mails."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = sparse.random_array((n, words), density=0.01, rng=rng, format="lil")
    for row in range(n):
        used = 30 * (row // 1_500) + rng.choice(120, 4, replace=False)
        if y[row]:
            X[row, used] = 1.0
    return X.tocsr(), y


try:
    mail = datasets.load("spam_assassin_stream")
    X, y, name = mail.X, mail.y, "SpamAssassin"
except ss.exceptions.SourceError:  # no folder of data sets, or not this one
    (X, y), name = generated(), "generated mail"
print(name, X.shape)

# %%
# The model keeps all columns; words outside the selection are 0 (``output="zero"``).
lives = {
    "all mail alike": None,
    "half-life of 3,000 mails": 3_000,
    "half-life of 300 mails": 300,
}
screens = {
    label: ss.Screen("f", k=200, half_life=life, output="zero") for label, life in lives.items()
}
hits, changed = {}, {}
for label, screen in screens.items():
    model, right, words = SGDClassifier(loss="log_loss", random_state=0), [], []
    for low in range(0, X.shape[0] - 299, 300):
        batch, labels = X[low : low + 300], y[low : low + 300]
        if low:
            right.append((model.predict(screen.transform(batch)) == labels).mean())
        screen.partial_fit(batch, labels)
        model.partial_fit(screen.transform(batch), labels, classes=np.unique(y))
        words.append(set(screen.selected_.tolist()))
    hits[label] = right
    changed[label] = [len(now - before) for before, now in pairwise(words)]
    print(
        f"{label}: accuracy {np.mean(right):.3f},",
        f"{np.mean(changed[label]):.0f} of 200 words replaced per batch",
    )

# %%
fig, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7.2, 5))
for label in screens:
    place = 300 * np.arange(1, len(hits[label]) + 1)
    above.plot(place, hits[label], label=label)
    below.plot(place, changed[label], label=label)
above.set(
    ylabel="accuracy, tested first", title=f"{name}: {X.shape[0]:,} mails, {X.shape[1]:,} words"
)
below.set(xlabel="mails", ylabel="selected words replaced")
above.legend()
plt.show()
