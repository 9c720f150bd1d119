"""How the site is built: `make docs`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(Path(__file__).parent)]

from streamsieve import __version__  # noqa: E402

project = "StreamSieve"
author = "The StreamSieve developers"
copyright = f"2026, {author}"  # noqa: A001 - Sphinx reads this name
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "_site.pages",
    "_site.mathml",
    "_site.docstrings",
]
exclude_patterns = ["_build", "_chart", "_site"]
nitpicky = True
smartquotes = False  # quotes and hyphens of code stay as they are typed

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
# numpydoc links the attributes of a class to properties, which have no pages of their own
suppress_warnings = ["ref.python"]
nitpick_ignore_regex = [
    ("py:obj", r"\w+"),
    ("py:meth", r"(\w+\.)?_\w+"),  # the hooks that subclasses write: /extend
    ("py:(class|mod)", r"streamsieve\.\w+\.\w+.*"),  # parts that have no page of their own
]

toc_object_entries = False  # a class has a heading of its own
autodoc_typehints = "none"
autodoc_mock_imports = ["pyspark"]  # half a gigabyte for one docstring
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "abort_on_example_error": True,
    "write_computation_times": False,  # its page would load scripts from a network
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (560, 392),
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "StreamSieve"
html_static_path = ["_static"]
html_css_files = ["streamsieve.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "StreamSieve", "image_light": "_static/logo.svg", "image_dark": "_static/logo_dark.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "choose": []}
# without it a first visit sets an empty mode, which the theme complains about in the console
html_context = {"default_mode": "auto"}
