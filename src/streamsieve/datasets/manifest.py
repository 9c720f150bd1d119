"""Manifest of the data sets known by name, and where each is available."""

from __future__ import annotations

from dataclasses import dataclass

from streamsieve.protocols import Task


@dataclass(frozen=True)
class Entry:
    """An entry of the manifest.

    Attributes
    ----------
    name : name of the data set
    task : kind of target
    rows, features : as published; a source may differ if ``description`` says so
    description, citation : its content, and its authors
    embedded : name of scikit-learn's loader, if it comes with scikit-learn
    file : name of its file in the folder STREAMSIEVE_DATA, without .npz
    target : array of that file that is the target
    openml : its number at openml.org, if any
    """

    name: str
    task: Task
    rows: int
    features: int
    description: str
    citation: str
    embedded: str | None = None
    file: str | None = None
    target: str = "y"
    openml: int | None = None


_GUYON = "Guyon, Gunn, Ben-Hur and Dror, Result analysis of the NIPS 2003 feature selection challenge, 2004"
_UCI = "UCI Machine Learning Repository"
_ALON = "Alon et al., Broad patterns of gene expression revealed by clustering, PNAS 96, 1999"
_GOLUB = "Golub et al., Molecular classification of cancer, Science 286, 1999"
_KATAKIS = "Katakis, Tsoumakas and Vlahavas, Tracking recurring contexts using ensemble classifiers, 2010"
_UJI = "Torres-Sospedra et al., UJIIndoorLoc, IPIN 2014"
_LI = "Li et al., Feature selection: a data perspective, ACM Computing Surveys 50, 2017"

_BINARY, _MULTI, _NUMERIC = Task.BINARY, Task.MULTICLASS, Task.REGRESSION


def _local(
    name: str, task: Task, rows: int, features: int, description: str, citation: str,
    *, openml: int | None = None, file: str | None = None, target: str = "y",
) -> Entry:  # fmt: skip
    return Entry(name, task, rows, features, description, citation, None, file or name, target, openml)


_ENTRIES = (
    # with scikit-learn: always there
    Entry("breast_cancer", _BINARY, 569, 30, "Measurements of cell nuclei (Wisconsin diagnostic).",
          _UCI, "load_breast_cancer"),
    Entry("wine", _MULTI, 178, 13, "Chemical analysis of wines of three growers.", _UCI, "load_wine"),
    Entry("iris", _MULTI, 150, 4, "Four measurements of three kinds of iris.",
          "Fisher, Annals of Eugenics 7, 1936", "load_iris"),
    Entry("digits", _MULTI, 1797, 64, "Handwritten digits, 8 x 8 pixels.", _UCI, "load_digits"),
    Entry("diabetes", _NUMERIC, 442, 10, "Progression of diabetes after a year.",
          "Efron et al., Least angle regression, Annals of Statistics 32, 2004", "load_diabetes"),
    # the feature selection challenge
    _local("madelon", _BINARY, 2600, 500, "Artificial: clusters on a cube, 20 of 500 features matter.",
           _GUYON, openml=1485),
    _local("arcene", _BINARY, 200, 10_000, "Mass spectra, cancer or not; 3,000 features are probes.",
           _GUYON, openml=1458),
    _local("dexter", _BINARY, 600, 20_000, "Texts about acquisitions or not, sparse; half are probes.",
           _GUYON, openml=4136),
    _local("dorothea", _BINARY, 1150, 100_000, "Compounds that bind to thrombin or not, sparse.",
           _GUYON, openml=4137),
    Entry("gisette", _BINARY, 7000, 5000, "Digits 4 and 9, with products of pixels and probes.",
          _GUYON, openml=41026),
    _local("gisette_valid", _BINARY, 1000, 5000, "The validation rows of gisette.", _GUYON),
    Entry("hiva", _BINARY, 4229, 1617, "Compounds active against HIV or not, training and validation rows.",
          "Guyon et al., Agnostic learning vs. prior knowledge, IJCNN 2007", openml=1039),
    _local("hiva_train", _BINARY, 3845, 1617, "The training rows of hiva.",
           "Guyon et al., Performance prediction challenge, WCCI 2006"),
    # gene expression
    _local("colon_raw", _BINARY, 62, 2000, "Colon tissue, tumor or not, as measured.", _ALON),
    _local("colon_disc", _BINARY, 62, 2000, "Colon tissue, cut to three levels.", f"{_ALON}; {_LI}"),
    Entry("colon", _BINARY, 62, 2000, "Colon tissue, standardized by rows and columns (LIBSVM's copy).",
          _ALON, openml=1432),
    _local("leukemia_golub_raw", _BINARY, 72, 7129, "Two kinds of leukemia, as measured.",
           _GOLUB, openml=1104),
    _local("leukemia_disc", _BINARY, 72, 7070, "Two kinds of leukemia, cut to three levels.",
           f"{_GOLUB}; {_LI}"),
    _local("prostate_spls6033", _BINARY, 102, 6033, "Prostate tissue, tumor or not.",
           "Singh et al., Cancer Cell 1, 2002; Chung and Keles, 2010"),
    _local("lymphoma_disc", _MULTI, 96, 4026, "Nine kinds of lymphoma, cut to three levels.",
           f"Alizadeh et al., Nature 403, 2000; {_LI}"),
    # small ones
    _local("ionosphere", _BINARY, 351, 34, "Radar returns, good or bad.", _UCI, openml=59),
    _local("spambase", _BINARY, 4601, 57, "Frequencies of words in mail, spam or not.", _UCI, openml=44),
    _local("spect", _BINARY, 267, 22, "Heart images, binary features; the target of the LOFS copy.", _UCI),
    _local("spectf", _BINARY, 267, 44, "Heart images, 44 counts.", _UCI, openml=337),
    _local("wdbc", _BINARY, 569, 30, "Measurements of cell nuclei, as breast_cancer.", _UCI, openml=1510),
    # streams and text
    _local("electricity", _BINARY, 45_312, 8, "Price of electricity up or down, in time order.",
           "Harries, Splice-2 comparative evaluation: electricity pricing, 1999", openml=151),
    _local("covtype", _MULTI, 581_012, 54, "Seven kinds of forest.",
           "Blackard and Dean, Computers and Electronics in Agriculture 24, 1999", openml=1596),
    _local("spam_assassin_stream", _BINARY, 9324, 39_916, "Words of mail in time order, sparse.", _KATAKIS),
    _local("usenet1", _BINARY, 1500, 99, "Messages a reader likes or not; the taste changes.", _KATAKIS),
    _local("emailing_list", _BINARY, 1500, 913, "Mail a reader likes or not; the taste changes.", _KATAKIS),
    _local("news20_multiclass", _MULTI, 15_935, 62_061, "Words of twenty newsgroups, sparse.",
           "Lang, Newsweeder, ICML 1995"),
    _local("rcv1_vw_slice", _BINARY, 1500, 47_118, "A slice of Reuters' news, sparse.",
           "Lewis, Yang, Rose and Li, RCV1, JMLR 5, 2004"),
    # places by wireless signals: one file, several targets
    _local("ujiindoorloc", _MULTI, 21_048, 520, "Which building, by the strength of wireless signals.",
           _UJI),
    _local("ujiindoorloc_latitude", _NUMERIC, 21_048, 520, "How far north, by wireless signals.", _UJI,
           file="ujiindoorloc", target="lat"),
    _local("ujiindoorloc_longitude", _NUMERIC, 21_048, 520, "How far east, by wireless signals.", _UJI,
           file="ujiindoorloc", target="lon"),
)  # fmt: skip

#: Every data set known by name.
MANIFEST = {entry.name: entry for entry in _ENTRIES}
