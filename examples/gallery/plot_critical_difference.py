"""
Are the differences significant?
================================

Seven ways to select on twelve data sets: average ranks look like a league table, but most differences are within the critical difference of the
Nemenyi test (Demsar 2006).
"""

# %%
import io

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import streamsieve as ss
from streamsieve.evaluation import plots
from streamsieve.evaluation.significance import nemenyi

selectors = {
    "all features": None,
    "SAOLA": ss.SAOLA(),
    "Fast-OSFS": ss.FastOSFS(),
    "TopK": ss.TopK(k=10),
    "mRMR": ss.MRMR(k=10),
    "ReliefF": ss.ReliefF(k=10),
    "Screen(f)": ss.Screen("f", k=10),
}
scores = np.empty((12, len(selectors)))
for data_set in range(len(scores)):
    X, y = make_classification(
        200, 60, n_informative=6, n_redundant=10, class_sep=0.8, random_state=data_set
    )
    for j, selector in enumerate(selectors.values()):
        steps = [StandardScaler(), selector, KNeighborsClassifier()]
        model = make_pipeline(*(step for step in steps if step is not None))
        scores[data_set, j] = cross_val_score(model, X, y, cv=4).mean()

# %%
# Bars join methods that do not differ significantly.
for name, score in zip(selectors, scores.mean(axis=0), strict=True):
    print(f"{name}: mean accuracy {score:.3f}")
ranks = nemenyi(scores, list(selectors))
figure = plots.critical_difference(
    ranks.mean_ranks,
    ranks.methods,
    ranks.critical_difference,
    title="5-NN on twelve generated sets",
)
picture = io.BytesIO()
figure.savefig(picture, format="png", dpi=200)
image = plt.imread(io.BytesIO(picture.getvalue()))
fig, ax = plt.subplots(figsize=(8, 8 * image.shape[0] / image.shape[1]))
fig.subplots_adjust(left=0, right=1, bottom=0, top=1)
ax.imshow(image)
ax.axis("off")
plt.show()
