"""Slow twin of ``streamsieve.independence.chi_square``: Pearson's statistic, everything else as for G2.

``sum (N_xyz - E_xyz)^2 / E_xyz`` with ``E_xyz = N_x.z N_.yz / N_..z``; cells of empty rows and columns are
left out. No continuity correction: the authors' toolbox takes 0.5 off where fewer than 10 rows are expected.

Source: Pearson (1900).
"""


def chi_square(table):
    """Return the statistic of one stratum, for ``tests/reference/g_squared.py``."""
    total, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    return sum(
        (table[a, b] - rows[a] * columns[b] / total) ** 2 / (rows[a] * columns[b] / total)
        for a in range(len(rows))
        for b in range(len(columns))
        if rows[a] and columns[b]
    )
