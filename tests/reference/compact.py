"""Slow twin of compact quantiles: lay out all values with their masses, and pick at the mass positions."""


def thinned(pairs, k):
    """Return the values at positions (h + 1/2) W / k of (value, mass) pairs."""
    pairs = sorted(pairs, key=lambda pair: pair[0])
    step = sum(mass for _, mass in pairs) / k
    found, below, place = [], 0.0, 0
    for h in range(k):
        while place < len(pairs) - 1 and below + pairs[place][1] < (h + 0.5) * step:
            below += pairs[place][1]
            place += 1
        found.append(pairs[place][0])
    return found
