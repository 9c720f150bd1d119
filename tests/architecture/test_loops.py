"""Loops without a condition: each ends, for the reason that stands here, and a new one needs its own."""

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "streamsieve"

#: Why a loop ends, by file; a file may have several.
BOUNDS = {
    "_kernels/contingency.py": ["a table of values is at most half full, so that an empty slot comes"],
    "_kernels/entries.py": ["the width doubles until it is that of the piece"],
    "_kernels/neighbors.py": ["each turn leaves a strip behind, and beyond the last one lies infinity"],
    "_kernels/paired_partial.py": ["subsets are counted up to the last one"],
    "_kernels/quantiles_query.py": ["the median of the heaviest run leaves at least one value out"],
    "_kernels/quantiles_sparse.py": ["each turn takes an entry, the usual value or the zeros"],
    "_kernels/sketch.py": [
        "a table of slots is at most half full, so that an empty slot comes",
        "each turn goes down a level of the heap",
    ],
    "columns/redundancy/markov_blanket/correlation.py": ["each turn decides a column, after room was made"],
    "columns/redundancy/markov_blanket/discrete.py": ["each turn decides a column, after room was made"],
    "columns/redundancy/pairwise/correlation.py": ["each turn decides a column, after room was made"],
    "columns/redundancy/pairwise/discrete.py": ["each turn decides a column, after room was made"],
    "columns/redundancy/top_k/correlation.py": ["each turn decides a column, after room was made"],
    "engines/ordered.py": ["each turn hands over a task, or is one of `retries` after a crash"],
    "independence/arrangements.py": ["draws are multiplied until they are the most"],
    "independence/conditional_by_type.py": ["sets of columns are counted up to the last one"],
    "independence/online_fdr.py": ["each turn decides a p-value, or makes all of them exact"],
    "sources/messages/client.py": ["time: `patience`"],
    "sources/messages/partition_order.py": [
        "the ends of the partitions, `until`, or `patience` without news"
    ],
    "sources/svmlight.py": ["the end of the file: a turn that finds fewer lines than it has room for"],
    "sources/tables/files.py": ["the end of the batches"],
    "summaries/contingency/value_tables.py": ["each turn counts an entry, after room was made"],
}


def endless(source):
    """Return the lines of loops whose condition is a constant."""
    loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.While)]
    return [loop.lineno for loop in loops if isinstance(loop.test, ast.Constant)]


def test_every_loop_without_a_condition_has_its_reason():
    found = Counter()
    for path in PACKAGE.rglob("*.py"):
        found[path.relative_to(PACKAGE).as_posix()] += len(endless(path.read_text()))
    assert +found == {name: len(reasons) for name, reasons in BOUNDS.items()}


def test_a_new_loop_would_be_seen():
    assert endless("x = 0\nwhile True:\n    x += 1\nwhile x:\n    x -= 1\n") == [2]


def test_every_loop_can_be_left():
    """A loop without a condition has a break, a return or a raise of its own."""
    for name in BOUNDS:
        for node in ast.walk(ast.parse((PACKAGE / name).read_text())):
            if isinstance(node, ast.While) and isinstance(node.test, ast.Constant):
                inside = {type(each) for statement in node.body for each in ast.walk(statement)}
                assert inside & {ast.Break, ast.Return, ast.Raise}, (name, node.lineno)
