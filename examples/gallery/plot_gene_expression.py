"""
Gene expression: a list with few false discoveries
==================================================

80 patients, 5,000 genes, 40 of which differ between the two groups. At a fixed level of 0.01, one percent of the other genes, about 50, is
called significant as well. An online procedure bounds the false discovery rate (FDR), and alpha spending the probability of any false discovery
(FWER), however many genes follow: for independent patients and, with ADDIS, genes that are independent of each other, as they are here.
"""

# %%
# Simulate the study, and make three lists of genes.
import matplotlib.pyplot as plt
import numpy as np

import streamsieve as ss

plt.style.use("style.mplstyle")
rng = np.random.default_rng(1)
group = np.arange(80) % 2
genes = rng.normal(size=(80, 5_000))
true = rng.choice(5_000, 40, replace=False)
genes[:, true] += 1.3 * group[:, None]

lists = {
    "level 0.01 for every gene": ss.Screen("f", alpha=0.01, correction="none"),
    "ADDIS, FDR at most 0.10": ss.OnlineFDR(fdr="addis", alpha=0.10),
    "alpha spending, FWER at most 0.05": ss.OnlineFDR(fdr="alpha_spending", alpha=0.05),
}
for selector in lists.values():
    selector.fit(genes, group)

# %%
# True and false discoveries of each list.
right = [np.isin(found.selected_, true).sum() for found in lists.values()]
wrong = [len(found.selected_) - hits for found, hits in zip(lists.values(), right, strict=True)]

fig, ax = plt.subplots()
ax.barh(list(lists), right, label="true")
ax.barh(list(lists), wrong, left=right, label="false")
ax.set(xlabel="genes in the list", title="40 of 5,000 genes differ between 80 patients")
ax.legend()
plt.show()
for name, hits, misses in zip(lists, right, wrong, strict=True):
    print(f"{name}: {hits} true, {misses} false")
