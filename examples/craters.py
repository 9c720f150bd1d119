"""Find craters in pictures of a planet, and compute only the texture features that are needed for it.

    python examples/craters.py [--target 0.9] [--workers 2] [--out craters.png]

The case study of Wu, Yu, Ding, Wang and Zhu (Online feature selection with streaming features, IEEE TPAMI
35(5), 2013) on terrain that is made up here, because their picture of Mars is not free:

1. a terrain with craters, hills, a river valley and dunes, lit by a low sun (Lambert's law);
2. candidates: pairs of a shadow and a highlight that lie as in a bowl, found by mathematical morphology;
3. 1,089 texture features of each candidate, square masks over its integral image, computed one by one;
4. OSFS, Fast-OSFS and alpha-investing decide on each feature as it comes, k nearest neighbours classify, and
   a run ends when cross-validation on the training candidates says that the accuracy is reached.

Training candidates are those of the north-eastern part; the others are for testing.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.spatial import KDTree
from skimage import measure, morphology, transform
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import streamsieve as ss

Image = npt.NDArray[np.float64]

#: Where the sun stands: in the west, and low.
ELEVATION = np.deg2rad(28)
REGIONS = ("west", "central", "east")
#: Colors and lines of the courses, which differ in print.
LOOKS = (("#555555", "-"), ("#d99a1c", "--"), ("#41822a", ":"), ("#8c2d04", "-"), ("#0b2545", "-."))


# ------------------------------------------------------------------------------------ 1. terrain


class Crater(NamedTuple):
    """A bowl with a rim; ``depth`` is a share of the diameter, small where time has worn it down."""

    row: float
    column: float
    radius: float
    depth: float


def fractal(shape: tuple[int, int], roughness: float, rng: np.random.Generator) -> Image:
    """Return hills of all sizes: noise whose amplitude falls with frequency, standard deviation 1."""
    rows, columns = (np.fft.fftfreq(n) for n in shape)
    frequency = np.hypot(rows[:, None], columns[None, : shape[1] // 2 + 1])
    frequency[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.normal(size=shape)) * frequency**-roughness
    surface = np.fft.irfft2(spectrum, shape)
    return np.asarray(surface / surface.std())


def terrain(shape: tuple[int, int], n_craters: int, rng: np.random.Generator) -> tuple[Image, list[Crater]]:
    """Return heights in pixels, and the craters in them: most in the west, a valley and dunes in between."""
    height, width = shape
    z = 9.0 * fractal(shape, 1.7, rng) + 0.5 * fractal(shape, 0.9, rng)
    rows, columns = np.mgrid[:height, :width]
    course = width * (0.5 + 0.06 * np.sin(rows / height * 9) + 0.02 * np.sin(rows / height * 31))
    z -= 14 * np.exp(-(((columns - course) / (0.03 * width)) ** 2))
    dunes = np.exp(-(((columns - 0.5 * width) / (0.13 * width)) ** 2))
    z += 0.9 * dunes * np.sin((columns + 6 * fractal(shape, 1.5, rng)) / 3.1)
    craters = []
    for _ in range(n_craters):
        across = rng.beta(1.0, 1.3)  # denser in the west
        radius = min(5 * rng.pareto(2.2) + 5, 40.0)
        craters.append(Crater(rng.uniform(0, height), across * width, radius, rng.uniform(0.06, 0.2)))
    for crater in craters:
        dig(z, crater)
    for _ in range(n_craters // 2):  # mounds look like craters that are lit from the other side
        mound = Crater(rng.uniform(0, height), rng.uniform(0, width), rng.uniform(6, 20), 0.0)
        dig(z, mound._replace(depth=-rng.uniform(0.04, 0.15)))
    return z, craters


def dig(z: Image, crater: Crater) -> None:
    """Dig a bowl and throw up its rim; a negative depth makes a mound."""
    reach = int(np.ceil(3 * crater.radius))
    low = [max(0, int(at) - reach) for at in (crater.row, crater.column)]
    part = z[low[0] : int(crater.row) + reach, low[1] : int(crater.column) + reach]
    rows, columns = np.mgrid[: part.shape[0], : part.shape[1]]
    r = np.hypot(rows + low[0] - crater.row, columns + low[1] - crater.column) / crater.radius
    depth = crater.depth * 2 * crater.radius
    rim = 0.2 * depth
    inside = rim - (depth + rim) * (1 - r**2)
    outside = rim * np.maximum(r, 1e-9) ** -3.0
    part += np.where(r < 1, inside, outside)


def shaded(z: Image, rng: np.random.Generator) -> Image:
    """Return the picture: Lambert's law for a sun in the west, uneven ground, noise of the camera."""
    down, right = np.gradient(z)
    light = (np.cos(ELEVATION) * right + np.sin(ELEVATION)) / np.sqrt(1 + down**2 + right**2)
    light = np.clip(light, 0, None) * (1 + 0.06 * fractal(z.shape, 1.2, rng))
    return np.asarray(light + rng.normal(scale=0.02, size=z.shape))


# ------------------------------------------------------------------------------------ 2. candidates


class Spots(NamedTuple):
    """Connected parts of a picture that are all light or all dark, one entry each."""

    row: Image
    column: Image
    area: Image


def spots(mask: npt.NDArray[np.bool_], least: int, most: int) -> Spots:
    """Return the parts of a mask that may be one side of a bowl: of the right area, and not too flat."""
    labels = measure.label(morphology.opening(mask, morphology.disk(1)))
    rows, columns = np.nonzero(labels)
    label = labels[rows, columns]
    area = np.bincount(label).astype(float)
    area[0] = 1.0
    row, column = (np.bincount(label, at, len(area)) / area for at in (rows, columns))
    tall, wide = (
        np.bincount(label, (at - mean[label]) ** 2, len(area)) / area
        for at, mean in ((rows, row), (columns, column))
    )
    # the sun stands in the west, so that both crescents of a bowl stand upright
    good = (area >= least) & (area <= most) & (tall > 0.6 * wide)
    good[0] = False
    return Spots(row[good], column[good], area[good])


def candidates(picture: Image) -> Image:
    """Return squares that may hold a crater: row and column of the centre, and side, a line each."""
    flat = ndimage.gaussian_filter(picture, 1) - ndimage.uniform_filter(picture, 75)
    flat /= np.sqrt(ndimage.uniform_filter(flat**2, 151))
    found = []
    for level in (2.0, 1.5, 1.1, 0.8, 0.6):
        light, dark = (spots(mask, 12, 1500) for mask in (flat > level, flat < -level))
        i, j = pairs(dark, light, 60)
        across, aside = light.column[j] - dark.column[i], np.abs(light.row[j] - dark.row[i])
        ratio, size = light.area[j] / dark.area[i], np.sqrt(np.minimum(light.area[j], dark.area[i]))
        fits = (across > 4) & (across < 3.2 * size) & (aside < 0.4 * across) & (ratio > 0.2) & (ratio < 5)
        middle = (light.row[j] + dark.row[i]) / 2, (light.column[j] + dark.column[i]) / 2
        found.append(np.column_stack([*middle, 2.2 * np.hypot(across, aside)])[fits])
    return distinct(np.concatenate(found))


def pairs(some: Any, others: Any, distance: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the numbers of all pairs that are not farther from each other than a distance."""
    trees = (KDTree(np.column_stack([each.row, each.column])) for each in (some, others))
    near = next(trees).sparse_distance_matrix(next(trees), distance, output_type="ndarray")
    return near["i"], near["j"]


def distinct(squares: Image) -> Image:
    """Drop squares that are nearly the same as an earlier one."""
    near = KDTree(squares[:, :2]).query_ball_point(squares[:, :2], 0.25 * squares[:, 2])
    kept = np.ones(len(squares), bool)
    for i, others in enumerate(near):
        earlier = np.array([j for j in others if j < i and kept[j]], int)
        kept[i] = not np.any(np.abs(np.log(squares[earlier, 2] / squares[i, 2])) < np.log(1.5))
    return squares[kept]


def are_craters(squares: Image, craters: list[Crater]) -> npt.NDArray[np.bool_]:
    """Say which squares hold a crater: about at its centre, and of about its size."""
    true = np.array(craters)
    found = np.zeros(len(squares), bool)
    near = KDTree(squares[:, :2]).query_ball_point(true[:, :2], 0.5 * true[:, 2])
    for crater, some in zip(craters, near, strict=True):
        alike = np.abs(np.log(squares[some, 2] / (2.6 * crater.radius))) < np.log(1.7)
        found[np.array(some, int)[alike]] = True
    return found


# ------------------------------------------------------------------------------------ 3. texture features

#: Side of a candidate after resampling, and sides of the masks, which move by a third of their side.
SIDE = 48
MASK_SIDES = (12, 24, 36, 48)
#: Nine masks: light counts, dark counts against it, over a grid of equal cells.
MASKS = {
    "left-right": [[1, -1]],
    "top-bottom": [[1], [-1]],
    "upright bar": [[-1, 2, -1]],
    "level bar": [[-1], [2], [-1]],
    "checkers": [[1, -1], [-1, 1]],
    "rising corners": [[0, 1], [-1, 0]],
    "falling corners": [[1, 0], [0, -1]],
    "cross": [[-1, 1, -1], [1, 0, 1], [-1, 1, -1]],
    "centre": [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]],
}


class Mask(NamedTuple):
    """A mask at a place of the candidate."""

    kind: str
    row: int
    column: int
    side: int

    def __str__(self) -> str:
        return f"{self.kind} {self.side} at {self.row},{self.column}"


def all_masks() -> list[Mask]:
    """Return all 9 x (100 + 16 + 4 + 1) = 1,089 of them."""
    return [
        Mask(kind, row, column, side)
        for side in MASK_SIDES
        for row in range(0, SIDE - side + 1, side // 3)
        for column in range(0, SIDE - side + 1, side // 3)
        for kind in MASKS
    ]


def in_any_order(masks: list[Mask], seed: int) -> list[Mask]:
    """Return the masks shuffled: nobody knows beforehand which are good."""
    return [masks[i] for i in np.random.default_rng(seed).permutation(len(masks))]


class Patches:
    """Candidates, all resampled to one size and brightness, as integral images.

    Sums over any rectangle of all candidates then take four look-ups each.
    """

    def __init__(self, picture: Image, squares: Image) -> None:
        self.integral = np.zeros((len(squares), SIDE + 1, SIDE + 1))
        for i, (row, column, side) in enumerate(squares):
            margin = int(np.ceil(side / 2))
            rows, columns = (
                np.clip(np.arange(int(at) - margin, int(at) + margin + 1), 0, n - 1)
                for at, n in zip((row, column), picture.shape, strict=True)
            )
            patch = transform.resize(picture[np.ix_(rows, columns)], (SIDE, SIDE), order=1)
            patch = (patch - patch.mean()) / (patch.std() + 1e-9)
            self.integral[i, 1:, 1:] = patch.cumsum(axis=0).cumsum(axis=1)

    def texture(self, mask: Mask) -> npt.NDArray[np.float64]:
        """Compute one feature of all candidates: the weighted mean over the cells of a mask."""
        weights = np.array(MASKS[mask.kind])
        tall, wide = (mask.side // cells for cells in weights.shape)
        corners = np.ix_(
            range(len(self.integral)),
            mask.row + tall * np.arange(weights.shape[0] + 1),
            mask.column + wide * np.arange(weights.shape[1] + 1),
        )
        cells = np.diff(np.diff(self.integral[corners], axis=1), axis=2)
        return np.asarray(np.einsum("nij,ij->n", cells, weights) / mask.side**2)

    def textures(self, masks: list[Mask]) -> Image:
        """Compute some features side by side."""
        return np.column_stack([self.texture(mask) for mask in masks])


# ------------------------------------------------------------------------------------ 4. the study


@dataclass
class Study:
    """A picture with its candidates, and what is known of them."""

    picture: Image
    squares: Image
    truth: npt.NDArray[np.bool_]
    training: Patches = field(init=False)
    y: npt.NDArray[np.bool_] = field(init=False)
    #: For each region patches to test on, and which of them are craters.
    testing: dict[str, tuple[Patches, npt.NDArray[np.bool_]]] = field(init=False)

    def __post_init__(self) -> None:
        height, width = self.picture.shape
        region = np.minimum((self.squares[:, 1] * 3 / width).astype(int), 2)
        north_east = (region == 2) & (self.squares[:, 0] < height / 2)
        self.training = Patches(self.picture, self.squares[north_east])
        self.y = self.truth[north_east]
        self.testing = {}
        for number, name in enumerate(REGIONS):
            there = (region == number) & ~north_east
            self.testing[name] = Patches(self.picture, self.squares[there]), self.truth[there]


def make_study(shape: tuple[int, int] = (1400, 2100), n_craters: int = 3000, seed: int = 0) -> Study:
    """Make up a terrain, take its picture, and look for candidates."""
    rng = np.random.default_rng(seed)
    z, craters = terrain(shape, n_craters, rng)
    picture = shaded(z, rng)
    squares = candidates(picture)
    return Study(picture, squares, are_craters(squares, craters))


def classifier() -> Any:
    """Return k nearest neighbours over standardised features."""
    return make_pipeline(StandardScaler(), KNeighborsClassifier(5))


def accuracies(study: Study, masks: list[Mask]) -> dict[str, float]:
    """Return the accuracy in each region with these features; only these are computed there."""
    if not masks:
        return {name: float(max(y.mean(), 1 - y.mean())) for name, (_, y) in study.testing.items()}
    learnt = classifier().fit(study.training.textures(masks), study.y)
    return {name: learnt.score(there.textures(masks), y) for name, (there, y) in study.testing.items()}


class Moment(NamedTuple):
    """How things stand after so many features."""

    computed: int
    kept: int
    accuracies: dict[str, float]

    @property
    def mean(self) -> float:
        """Mean accuracy over the regions."""
        return float(np.mean(list(self.accuracies.values())))


@dataclass
class Course:
    """What a method did while the features came in."""

    name: str
    moments: list[Moment]
    seconds: float = 0.0


def streamed(study: Study, masks: list[Mask], name: str, sieve: Any, workers: int = 0) -> Course:
    """Offer the features one after the other, and test whenever the selection has changed."""
    moments = [Moment(0, 0, accuracies(study, []))]
    kept: list[int] = []

    def look(_: int) -> None:
        nonlocal kept
        now = sieve.selected_.tolist()
        if now != kept:
            kept = now
            found = accuracies(study, [masks[i] for i in kept])
            moments.append(Moment(sieve.n_features_in_, len(kept), found))

    items = [(str(mask), mask) for mask in masks]
    source = ss.features(items, study.y, compute=study.training.texture, workers=workers)
    ss.run(source, sieve, progress=look)
    moments.append(moments[-1]._replace(computed=sieve.n_features_in_))
    return Course(name, moments, float(np.nansum(sieve.ledger_.seconds)))


def unselected(study: Study, masks: list[Mask], steps: int = 6) -> Course:
    """Test with all the features there are so far."""
    some = [round(len(masks) * (k + 1) / steps) for k in range(steps)]
    return Course("no selection", [Moment(n, n, accuracies(study, masks[:n])) for n in some])


def compare(study: Study, target: float, masks: list[Mask], workers: int = 0) -> list[Course]:
    """Let every method see all features; then Fast-OSFS again, until the accuracy is reached."""

    def promised(kept: Image) -> float:
        """Return the accuracy that the training candidates promise."""
        return float(cross_val_score(classifier(), kept, study.y, cv=5).mean())

    enough = ss.FastOSFS(stop=ss.Stop(target=target, accuracy=promised), test="fisher_z")
    return [
        unselected(study, masks),
        streamed(study, masks, "alpha-investing", ss.AlphaInvesting()),
        streamed(study, masks, "OSFS", ss.OSFS(test="fisher_z")),
        streamed(study, masks, "Fast-OSFS", ss.FastOSFS(test="fisher_z")),
        streamed(study, masks, f"Fast-OSFS, stop at {target:g}", enough, workers),
    ]


# ------------------------------------------------------------------------------------ what came of it


def table(courses: list[Course], n_masks: int) -> str:
    """Return the end of every course as text."""
    lines = [f"{'':24}{'computed':>16}{'kept':>8}" + "".join(f"{name:>10}" for name in REGIONS)]
    for course in courses:
        last = course.moments[-1]
        computed = f"{last.computed:,} ({last.computed / n_masks:.0%})"
        found = "".join(f"{last.accuracies[name]:10.3f}" for name in REGIONS)
        lines.append(f"{course.name:24}{computed:>16}{last.kept:8,}{found}")
    return "\n".join(lines)


def draw(study: Study, courses: list[Course], n_masks: int, path: Path) -> None:
    """Draw a part of the picture with its candidates, and the courses of the methods."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - the study itself needs no pictures

    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplot_mosaic([["picture", "accuracy"], ["picture", "kept"]], width_ratios=[1.25, 1])
    draw_picture(axes["picture"], study)
    for number, course in enumerate(courses):
        share = [moment.computed / n_masks for moment in course.moments]
        color, line = LOOKS[number % len(LOOKS)]
        style: dict[str, Any] = {
            "color": color,
            "linestyle": line,
            "label": course.name,
            "marker": "o" if number == 0 else None,
        }
        axes["accuracy"].plot(share, [m.mean for m in course.moments], drawstyle="steps-post", **style)
        axes["kept"].plot(share, [max(m.kept, 0.8) for m in course.moments], drawstyle="steps-post", **style)
        for panel, value in (("accuracy", course.moments[-1].mean), ("kept", course.moments[-1].kept)):
            if share[-1] < 1:
                axes[panel].plot(share[-1], value, "X", color=color, markersize=11)
    axes["accuracy"].set(ylabel="accuracy, mean of the regions", title="Accuracy as features stream in")
    axes["kept"].set(yscale="log", ylabel="features used", xlabel="share of the 1,089 features computed")
    axes["accuracy"].legend(loc="lower right", fontsize="small")
    for panel in ("accuracy", "kept"):
        axes[panel].xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes[panel].spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=80)


def draw_picture(axes: Any, study: Study) -> None:
    """Draw a corner of the training part, with a small mark in the middle of each candidate."""
    height, width = study.picture.shape
    low, size = (height // 8, 3 * width // 4), min(height, width) // 4
    axes.imshow(study.picture, cmap="gray", vmin=0, vmax=float(np.quantile(study.picture, 0.995)))
    for what, which, look in (
        ("other", ~study.truth, {"marker": "x", "color": "#f2a93b", "markersize": 5}),
        (
            "crater",
            study.truth,
            {"marker": "o", "color": "#35c9e8", "markersize": 8, "markerfacecolor": "none"},
        ),
    ):
        rows, columns, _ = study.squares[which].T
        axes.plot(columns, rows, linestyle="none", markeredgewidth=1.6, label=what, **look)
    axes.set(xlim=(low[1], low[1] + size), ylim=(low[0] + size, low[0]), xticks=[], yticks=[])
    axes.set_title("Candidates")
    axes.legend(loc="upper right", framealpha=0.9)


def main() -> None:
    """Run the whole study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", type=float, default=0.8, help="accuracy to stop at (default 0.8)")
    parser.add_argument("--workers", type=int, default=0, help="processes that compute features")
    parser.add_argument("--seed", type=int, default=0, help="another terrain, another order of features")
    parser.add_argument("--out", type=Path, default=Path("craters.png"), help="where the picture goes")
    options = parser.parse_args()
    started = time.perf_counter()
    study = make_study(seed=options.seed)
    print(
        f"{len(study.squares):,} candidates, {study.truth.mean():.0%} of them craters; "
        f"{len(study.y)} to learn from ({time.perf_counter() - started:.0f} s)"
    )
    masks = in_any_order(all_masks(), options.seed)
    courses = compare(study, options.target, masks, options.workers)
    print(table(courses, len(masks)))
    draw(study, courses, len(masks), options.out)
    print(f"wrote {options.out} after {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
