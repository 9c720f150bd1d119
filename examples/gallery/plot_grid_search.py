"""
Tuning a selector inside a pipeline
===================================

Selectors are scikit-learn estimators: the number of features is a parameter like any other, and selection happens inside the folds.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import streamsieve as ss

plt.style.use("style.mplstyle")
X, y = load_breast_cancer(return_X_y=True)
model = Pipeline(
    [("scale", StandardScaler()), ("select", ss.TopK()), ("classify", LogisticRegression())]
)
sizes = [1, 2, 3, 5, 8, 12, 20, 30]
grid = {"select": [ss.TopK(redundancy_weight=0.0), ss.TopK(), ss.MRMR()], "select__k": sizes}
search = GridSearchCV(model, grid, cv=5).fit(X, y)
print(search.best_params_, f"accuracy {search.best_score_:.3f}")

# %%
scores = search.cv_results_["mean_test_score"].reshape(3, len(sizes))
fig, ax = plt.subplots()
for name, line in zip(
    ("top k by relevance", "TopK: less redundancy", "mRMR (offline)"), scores, strict=True
):
    ax.plot(sizes, line, marker="o", markersize=4, label=name)
ax.set(
    xlabel="features",
    ylabel="accuracy, 5 folds",
    xscale="log",
    title="Breast cancer, logistic regression",
)
ax.set_xticks(sizes, map(str, sizes))
ax.legend()
plt.show()
