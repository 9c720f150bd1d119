"""Modified balanced Winnow: two sets of weights that grow and shrink by factors.

``cells[j] = (log u / 2, log v)``: 0 is where every feature begins.  Logarithms, because a weight that is
multiplied by small factors again and again would become 0 and never come back.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def learn_rows(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, y: FloatArray, cells: FloatArray,
    bias: FloatArray, promotion: float, demotion: float, threshold: float, margin: float,
) -> int:  # fmt: skip
    """Learn rows of values >= 0 with labels -1 and +1, in place; return the mistakes made."""
    mistakes = 0
    for r in range(len(y)):
        low, high = indptr[r], indptr[r + 1]
        # added up in the same order and divided last: where nothing was learned, the score is exactly 0
        total = 1.0  # the value of the bias
        score = 2.0 * np.exp(bias[0]) - np.exp(bias[1])
        for e in range(low, high):
            total += data[e]
            if data[e] > 0.0:
                cell = cells[indices[e]]
                score += (2.0 * np.exp(cell[0]) - np.exp(cell[1])) * data[e]
        score = y[r] * (score - threshold * total) / total
        if score <= 0.0:
            mistakes += 1
        if score > margin:
            continue
        _multiply(bias, 1.0 / total, y[r], promotion, demotion)
        for e in range(low, high):
            if data[e] > 0.0:
                _multiply(cells[indices[e]], data[e] / total, y[r], promotion, demotion)
    return mistakes


@nb.njit(nogil=True, cache=True)
def _multiply(cell: FloatArray, x: float, y: float, promotion: float, demotion: float) -> None:
    """Promote the weight on the side of the label, and demote the other one."""
    # a value of 1 alone in its row would end the other weight for good
    up, down = np.log(promotion * (1.0 + x)), np.log(demotion * max(1.0 - x, 1e-6))
    side = 0 if y > 0.0 else 1
    cell[side] = min(cell[side] + up, 600.0)  # far from where exp overflows
    cell[1 - side] += down
