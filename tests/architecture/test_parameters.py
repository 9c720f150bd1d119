"""One word per idea: parameters of selectors, names of protocols, and how long lists of arguments may be."""

import ast
import inspect
import re

import numpy as np
import pytest

import streamsieve as ss
from streamsieve import protocols, registry

SELECTORS = {cls.__name__: cls for cls in [*registry.selectors().values(), *registry.learners()]}
#: Names that meant several things or had a better one; see the table of names in ``docs/decisions.md``.
GONE = {
    "budget", "centre", "epsilon", "mode", "n_features", "neighbours", "penalty_ridge", "redundancy", "ridge",
    "sample", "scaled", "standardise", "step", "threshold",
}  # fmt: skip
#: Parameters that mean the same wherever they are, and so have one default.
DEFAULTS = {
    "lag": 0, "ledger": "all", "missing": "refuse", "output": "drop", "p_value": "auto", "random_state": 0,
    "stop": None, "types": None,
}  # fmt: skip
#: What the documentation of a parameter must say wherever it is.
MEANS = {"alpha": r"level|p-value|rate", "k": r"keep|select|features|size"}
#: Arguments of a kernel, and those that have more: a list that may only get shorter.
MOST_ARGUMENTS = 19
LONG = {
    "dominance.decide": 24, "discrete.decide": 31, "interaction_scan.scan": 26, "paired_columns.decide": 22,
    "paired_partial.decide": 21, "partial.decide": 29, "substitution.commit": 27,
    "substitution.substitute": 26, "table_tests.measure": 25, "tables_search.decide": 51,
    "tables_search.separate": 36, "top_k.decide": 23,
}  # fmt: skip


def test_parameters_have_one_name_per_idea():
    for name, cls in SELECTORS.items():
        first, *others = list(inspect.signature(cls).parameters.values())
        assert all(each.kind is each.KEYWORD_ONLY for each in others), f"{name}: keyword-only after {first}"
        taken = {each.name: each.default for each in (first, *others)}
        assert not taken.keys() & GONE, name
        for each in taken.keys() & DEFAULTS.keys():
            assert taken[each] == DEFAULTS[each], f"{name}({each}=...) has another default elsewhere"


@pytest.mark.parametrize("parameter", MEANS)
def test_a_parameter_means_the_same_everywhere(parameter):
    texts = {name: inspect.getdoc(cls) for name, cls in SELECTORS.items()}
    entry = re.compile(rf"^{parameter} :.*\n(    .*\n)+", re.MULTILINE)
    found = {name: entry.search(text) for name, text in texts.items()}
    said = {name: match[0] for name, match in found.items() if match}
    assert len(said) > 10
    assert not [name for name, text in said.items() if not re.search(MEANS[parameter], text, re.IGNORECASE)]


def test_kernels_do_not_get_more_arguments(tree):
    counts = {
        f"{module.path.stem}.{node.name}": len(node.args.args)
        for module in tree.modules.values()
        if module.path.parent.name == "_kernels"
        for node in module.nodes
        if isinstance(node, ast.FunctionDef)
    }
    assert {name: count for name, count in counts.items() if count > MOST_ARGUMENTS} == LONG


PROTOCOLS = [
    each
    for each in vars(protocols).values()
    if isinstance(each, type) and getattr(each, "_is_protocol", False) and each is not protocols.Protocol
]


def members(protocol):
    """Return the names that a protocol asks for, those of the protocols above it included."""
    own = [cls for cls in protocol.__mro__ if getattr(cls, "_is_protocol", False)]
    names = {name for cls in own for name in (*vars(cls), *vars(cls).get("__annotations__", {}))}
    return {name for name in names if name[0] != "_"}


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_every_protocol_is_kept_by_a_class_and_read_by_a_module(protocol, tree):
    source = ss.ArraySource(np.ones((4, 2)), np.arange(4))
    kept = [thing for thing in (source, *registry.summaries().values()) if has_all(thing, members(protocol))]
    assert kept, "no source or summary has all its members"
    texts = (module.text for module in tree.modules.values() if module.name != protocols.__name__)
    extended = any(protocol in other.__mro__[1:] for other in PROTOCOLS)
    assert extended or any(protocol.__name__ in text for text in texts), "no module asks for it"


def has_all(thing, names):
    return all(hasattr(thing, name) for name in names)


def test_the_protocols_were_found():
    assert {"Summary", "RowSource", "ColumnSource", "HasTables"} <= {each.__name__ for each in PROTOCOLS}
    assert members(protocols.ColumnSource) == {"n_columns", "y", "columns"}
