"""Slow twin of recovery: count, feature by feature."""


def recovery(selected, relevant, k=None):
    """Return found, detection at k, precision, recall and F1; None where a share has no meaning."""
    found = [feature for feature in selected if feature in set(relevant)]
    first = [feature for feature in list(selected)[:k] if feature in set(relevant)]
    precision = len(found) / len(selected) if len(selected) else None
    recall = len(found) / len(relevant) if len(relevant) else None
    both = len(selected) + len(relevant)
    return {
        "found": len(found),
        "detection": len(first) / len(relevant) if len(relevant) else None,
        "precision": precision,
        "recall": recall,
        "f1": 2 * len(found) / both if both else None,
    }
