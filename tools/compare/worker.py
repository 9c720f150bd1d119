"""Run cases against the tree that is on the path: ``python -m tools.compare.worker old|new SRC``.

Cases come as JSON lines from standard input, and answers go as JSON lines to standard output.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import pkgutil
import sys
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tools.compare import renames
from tools.compare.answers import Answers, digest
from tools.compare.data import Stream, in_form, make_stream, real_stream

#: Where classes are looked for first; then everywhere in the package.
MODULES = ("streamsieve", "streamsieve.criteria", "streamsieve.summaries", "streamsieve.learners")
#: Methods of a learner that answer about rows.
PREDICTIONS = ("predict", "predict_proba", "decision_function")
#: The criteria that are asked on each summary.
CRITERIA = {
    "Moments": ("AnovaF", "Fisher", "WelchT"),
    "CoMoments": ("Correlation",),
    "Quantiles": ("ChiSquare", "Gini", "MutualInfo", "SymmetricUncertainty"),
}


def _has_new_names(package: Path) -> bool:
    """Whether a tree, old or new, is later than the change of names, which its table of names shows."""
    table = package / "_exports.py"
    return table.exists() and '"LARS"' in table.read_text()


def main() -> None:
    """Read cases from standard input until it ends."""
    found = importlib.util.find_spec("streamsieve")
    if found is None or found.origin is None or Path(sys.argv[2]) not in Path(found.origin).parents:
        sys.exit(f"streamsieve comes from {found and found.origin}, not from {sys.argv[2]}")
    player = Player(is_new=_has_new_names(Path(found.origin).parent))
    for line in sys.stdin:
        case = json.loads(line)
        began = time.perf_counter()
        answers = player.play(case)
        answers["seconds"] = time.perf_counter() - began
        sys.stdout.write(json.dumps(answers) + "\n")
        sys.stdout.flush()


def spread(kept: Any) -> float:
    """Say how good kept columns are, for a stop rule: how far their first principal value reaches."""
    return float(np.log1p(np.abs(kept).sum(axis=0)).sum() / 2)


def kept(selector: Any) -> float:
    """Say how many columns are kept, for a stop rule."""
    return float(len(selector.selected_))


def cosine(A: Any, B: Any) -> Any:
    """Return a similarity of columns, as a kernel of one's own: their squared cosine, and a ridge."""
    return 0.9 * (A.T @ B / len(A)) ** 2


FUNCTIONS = {"spread": spread, "kept": kept, "cosine": cosine}


class Player:
    """Build what a case describes, and do to it what the case says.

    Parameters
    ----------
    is_new : whether the tree has the new names, so that they are translated
    """

    def __init__(self, *, is_new: bool) -> None:
        self.is_new = is_new
        self.answers = Answers(is_new=is_new)
        self._loaded: dict[str, Any] = {}

    def play(self, case: dict[str, Any]) -> dict[str, Any]:
        """Return what happened at every step of a case."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.random.seed(0)  # noqa: NPY002 - for members of ensembles that take the global one
            steps = self._steps(case)
        ignored = (DeprecationWarning, FutureWarning, PendingDeprecationWarning)
        kinds = {w.category.__name__ for w in caught if not issubclass(w.category, ignored)}
        return {"id": case["id"], "steps": steps, "warnings": sorted(kinds)}

    def _steps(self, case: dict[str, Any]) -> list[dict[str, Any]]:
        try:
            stage = Stage(self, case)
        except Exception as error:  # noqa: BLE001 - the error is the answer
            return [{"op": "build", **raised(error)}]
        steps = []
        for op, *arguments in case["ops"]:
            step: dict[str, Any] = {"op": op}
            try:
                answer = getattr(stage, "do_" + op.replace(" ", "_"))(*arguments)
                if answer is not None:
                    step["answer"] = answer
            except Exception as error:  # noqa: BLE001 - the error is the answer
                step |= raised(error)
            if len(step) > 1:
                steps.append(step)
        return steps

    # ---------------------------------------------------------------- names of the tree

    def named(self, old: str) -> Any:
        """Return a class or function of the library, or of scikit-learn, by its old name."""
        return find(renames.class_name(old) if self.is_new else old, is_new=self.is_new)

    def parameters(self, cls: str, old: dict[str, Any]) -> dict[str, Any]:
        """Return parameters as this tree takes them."""
        built = {name: self.built(value) for name, value in old.items()}
        return renames.parameters(cls, built) if self.is_new else built

    def built(self, value: Any) -> Any:
        """Return what a description stands for."""
        if isinstance(value, list):
            return [self.built(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "function" in value:
            return FUNCTIONS[value["function"]]
        rest = {name: item for name, item in value.items() if name != "class"}
        return self.named(value["class"])(**self.parameters(value["class"], rest))

    def stream(self, spec: dict[str, Any]) -> Stream:
        """Return the stream of a case."""
        if "real" not in spec:
            return make_stream(spec)
        name = spec["real"]
        if name not in self._loaded:
            self._loaded = {name: self.named("datasets.load")(name)}
        stream = real_stream(self._loaded[name], spec["seed"], spec["n"], spec["p"])
        return stream._replace(X=np.abs(stream.X)) if spec.get("nonnegative") else stream


class Stage:
    """An object on its way through a stream; every ``do_`` method is one step."""

    def __init__(self, player: Player, case: dict[str, Any]) -> None:
        self.player, self.case, self.answers = player, case, player.answers
        self.X, self.y, self.weight, self.names = player.stream(case["data"])
        self.rows = len(self.y)
        self.thing = None if case["ops"][0][0] == "call" else self._fresh()

    def _fresh(self, **more: Any) -> Any:
        cls = self.case["cls"]
        return self.player.named(cls)(**self.player.parameters(cls, {**self.case["parameters"], **more}))

    def _call(self, method: str, *arguments: Any, of: Any = None, **named: Any) -> Any:
        thing = self.thing if of is None else of
        name = renames.method_name(self.case["cls"], method) if self.player.is_new else method
        return getattr(thing, name)(*arguments, **named)

    def _has(self, method: str) -> bool:
        name = renames.method_name(self.case["cls"], method) if self.player.is_new else method
        return hasattr(self.thing, name)

    def _attribute(self, old: str) -> Any:
        return getattr(
            self.thing, renames.attribute_name(self.case["cls"], old) if self.player.is_new else old
        )

    def _rows(self, low: int, high: int, form: str, weighted: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:  # noqa: FBT001
        X = in_form(self.X[low:high], form, self.names)
        return (X, self.y[low:high]), {"sample_weight": self.weight[low:high]} if weighted else {}

    # ---------------------------------------------------------------- looking

    def do_look(self) -> Any:
        """Report all that is known."""
        if self.case["ops"][0][0] == "update":
            return self._scored()
        said = self.answers.learnt(self.thing)
        for method in ("get_support", "get_feature_names_out"):
            if self._has(method):
                said[method] = self._said(method)
        return said

    def _said(self, method: str) -> Any:
        try:
            return self.answers.of(self._call(method))
        except Exception as error:  # noqa: BLE001 - the error is the answer
            return raised(error)

    def _scored(self) -> Any:
        """Report a summary, and what every criterion says about it."""
        said = self.answers.summary(self.thing)
        for name in CRITERIA.get(type(self.thing).__name__, ()):
            criterion = self.player.named(name)()
            for what, ask in (("", criterion), (" p", criterion.p_values)):
                try:
                    said[name + what] = self.answers.of(ask(self.thing))
                except Exception as error:  # noqa: BLE001 - the error is the answer
                    said[name + what] = raised(error)
        return said

    def do_transform(self, form: str) -> Any:
        """Report a digest of the reduced rows."""
        X, names = self.X[: self.rows], self.names
        if form == "open":  # columns in the order in which they became known
            names = [str(name) for name in self._attribute("feature_names_in_") if name in self.names]
            X, form = X[:, [self.names.index(name) for name in names]], "pandas"
        out = self._call("transform", in_form(X, form, names))
        return {"shape": list(out.shape), "digest": digest(out)}

    def do_predict(self, form: str) -> Any:
        """Report predictions."""
        X = in_form(self.X, form, self.names)
        return {name: self.answers.of(self._call(name, X)) for name in PREDICTIONS if self._has(name)}

    def do_why(self) -> Any:
        """Report the last line on some features."""
        ledger = self._attribute("ledger_")
        names = [str(name) for name in self._call("get_feature_names_out")[:3]]
        return [self.answers.lines([self._call("why", name, of=ledger)]) for name in names]

    def do_reload(self) -> None:
        """Save, load, and go on with what was loaded."""
        if "function" in json.dumps(self.case["parameters"]):
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "half.sieve"
            self._call("save", path)
            self.thing = type(self.thing).load(path)

    # ---------------------------------------------------------------- rows

    def do_fit(self, form: str, weighted: bool) -> None:  # noqa: FBT001
        """Fit to all rows."""
        arguments, named = self._rows(0, len(self.y), form, weighted)
        self._call("fit", *arguments, **named)

    def do_batch(self, low: int, high: int, form: str, weighted: bool) -> None:  # noqa: FBT001
        """Learn some rows."""
        arguments, named = self._rows(low, high, form, weighted)
        self._call("partial_fit", *arguments, **named)

    def do_first_batch(self, low: int, high: int, form: str) -> None:
        """Learn some rows, and be told the labels of all."""
        arguments, _ = self._rows(low, high, form, weighted=False)
        labels = {} if self.case["cls"] == "FSARegressor" else {"classes": np.unique(self.y)}
        self._call("partial_fit", *arguments, **labels)

    def do_dicts(self, low: int, high: int) -> Any:
        """Learn rows one by one, with features that come and go."""
        rng = np.random.default_rng([self.case["data"]["seed"], low])
        out = {}
        for i in range(low, high):
            there = rng.random(len(self.names)) < 0.5 + 0.5 * i / self.rows
            row = {self.names[j]: float(self.X[i, j]) for j in np.flatnonzero(there)}
            self._call("learn_one", row, self.y[i])
            if rng.random() < 0.1:
                out = self._call("transform_one", row)
        return self.answers.of(out) if out else None

    def do_frames(self, low: int, high: int) -> None:
        """Learn a dataframe that lacks some columns."""
        rng = np.random.default_rng([self.case["data"]["seed"], low])
        there = rng.permutation(len(self.names))[: max(1, int(rng.integers(len(self.names))))]
        frame = in_form(self.X[low:high][:, there], "pandas", [self.names[j] for j in there])
        self._call("learn_many", frame, self.y[low:high])

    def do_shards(self, shards: list[list[int]], form: str, weighted: bool, backwards: bool) -> None:  # noqa: FBT001
        """Learn parts of a stream one by one, and merge them."""
        parts = []
        for low, high in shards:
            place = {"first_row": low} if self.case["cls"] == "Bootstrap" else {}
            arguments, named = self._rows(low, high, form, weighted)
            parts.append(self._fresh(**place))
            self._call("partial_fit", *arguments, of=parts[-1], **named)
        self._merge(parts[::-1] if backwards else parts)

    def _merge(self, parts: list[Any]) -> None:
        self.thing = parts[0]
        for part in parts[1:]:
            self._call("merge", part)

    # ---------------------------------------------------------------- columns

    def do_begin(self, rows: int | None = None) -> None:
        """Begin, with the first rows only where more are to come."""
        self.rows = len(self.y) if rows is None else rows
        self._call("begin", self.y[: self.rows])

    def _block(self, low: int, high: int, form: str, named: bool) -> tuple[Any, Any]:  # noqa: FBT001
        first = max(0, self.rows - (self.case["parameters"].get("window") or self.rows))
        names = self.names[low:high]
        X = in_form(self.X[first : self.rows, low:high], form, names)
        return X, names if named and form != "pandas" else None

    def do_offer(self, low: int, high: int, form: str, named: bool) -> Any:  # noqa: FBT001
        """Offer a block."""
        X, names = self._block(low, high, form, named)
        return self._decided(self._call("offer", X, names))

    def _decided(self, decisions: Any) -> Any:
        return None if decisions is self.thing else {"decisions": self.answers.lines(decisions)}

    def do_single(self, j: int, named: bool) -> Any:  # noqa: FBT001
        """Offer one column."""
        return self._decided(self._call("offer", self.X[:, j].copy(), self.names[j] if named else None))

    def do_group(self, low: int, high: int, form: str, named: bool, label: str | None) -> Any:  # noqa: FBT001
        """Offer a whole group."""
        return self._decided(self._call("offer_group", *self._block(low, high, form, named), label))

    def do_fit_groups(self, form: str, ends: list[int]) -> None:
        """Fit with a label for each column."""
        labels = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        self._call("fit", in_form(self.X, form, self.names), self.y, groups=labels)

    def do_column_shards(self, ends: list[int], form: str) -> None:
        """Offer parts of a stream to selectors of their own, and merge them."""
        parts = []
        for low, high in pairwise(ends):
            parts.append(self._fresh())
            self._call("begin", self.y, of=parts[-1])
            self._call("offer", *self._block(low, high, form, named=True), of=parts[-1])
        self._merge(parts)

    def do_rows(self, low: int, high: int) -> None:
        """Bring new rows over the columns offered so far."""
        self.rows = high
        self._call("learn_rows", self.X[low:high, : self._attribute("n_features_in_")], self.y[low:high])

    def do_review(self) -> Any:
        """Judge the kept columns anew."""
        return self._decided(self._call("review"))

    def do_sample(self, moves: int) -> None:
        """Let a chain walk on."""
        self._call("sample", moves)

    # ---------------------------------------------------------------- what is refused

    def do_bad(self, kind: str) -> None:
        """Offer what should be refused, and must leave no trace."""
        X, y = self.X[: self.rows, :4].copy(), self.y[: self.rows]
        by_columns = self._has("offer")
        if not by_columns:
            X = self.X.copy()
        if kind in ("nan", "inf"):
            X[0, 0] = float(kind)
        if kind == "narrow":
            X = X[:, :-1]
        if kind == "short":
            X = X[:-1]
        if not by_columns:
            self._call("partial_fit" if self._has("partial_fit") else "fit", X, y)
        elif kind == "twice":
            self._call("offer", X[:, :2], ["same", "same"])
        else:
            self._call("offer", X)

    # ---------------------------------------------------------------- summaries

    def _update(self, thing: Any, low: int, high: int, form: str, weighted: bool = False) -> None:  # noqa: FBT001, FBT002
        X = in_form(self.X[low:high], form)
        if sp.issparse(X) and X.dtype != np.float64:
            X = X.astype(np.float64)
        weight = self.weight[low:high] if weighted else None
        self._call("update", X, np.asarray(self.y[low:high]), weight, of=thing)

    def do_update(self, low: int, high: int, form: str, weighted: bool) -> None:  # noqa: FBT001
        """Take rows."""
        self._update(self.thing, low, high, form, weighted)

    def do_merge(self, shards: list[list[int]], form: str) -> None:
        """Take the rows of other summaries."""
        for low, high in shards:
            other = self._fresh()
            self._update(other, low, high, form)
            self._call("merge", other)

    def do_fade(self, factor: float) -> None:
        """Let rows weigh less."""
        self._call("fade", factor)

    def do_forget(self, columns: list[int]) -> None:
        """Forget features."""
        self._call("forget", np.array(columns))

    def do_renumber(self, seed: int) -> None:
        """Move features to other places."""
        p = self.X.shape[1]
        columns = np.random.default_rng(seed).permutation(p + 2)[:p]
        self.thing = self._call("renumbered", columns, p + 2)

    def do_state(self) -> None:
        """Go through arrays and back."""
        self.thing = self._call("from_state", self._call("state"))

    def do_remove(self, low: int, high: int, form: str) -> None:
        """Take rows out again."""
        self._call("remove", in_form(self.X[low:high], form), np.asarray(self.y[low:high]))

    # ---------------------------------------------------------------- functions

    def do_call(self) -> Any:
        """Call a function."""
        return self.answers.of(self._fresh())


def raised(error: BaseException) -> dict[str, Any]:
    """Return an error as plain data."""
    return {"raises": type(error).__name__, "text": str(error)[:500]}


@functools.cache
def find(name: str, *, is_new: bool) -> Any:
    """Return a class or function by its name, wherever it stands; ``module.name`` says where."""
    if "." in name:
        module, _, name = name.rpartition(".")
        module = f"streamsieve.{module}"
        return getattr(importlib.import_module(renames.module_name(module) if is_new else module), name)
    if name in ("Ridge", "SGDClassifier"):
        return getattr(importlib.import_module("sklearn.linear_model"), name)
    for module in MODULES:
        known = importlib.import_module(renames.module_name(module) if is_new else module)
        if name in known.__dir__() or name in vars(known):
            return getattr(known, name)
    package = importlib.import_module("streamsieve")
    for info in pkgutil.walk_packages(package.__path__, "streamsieve."):
        if ".cli" in info.name or ".kafka" in info.name or info.name.endswith("__main__"):
            continue
        found = vars(importlib.import_module(info.name)).get(name)
        if found is not None and getattr(found, "__module__", "").startswith("streamsieve"):
            return found
    raise LookupError(f"there is no {name} in {package.__path__}: list it in tools/compare/renames.py")


if __name__ == "__main__":
    main()
