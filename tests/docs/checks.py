"""What is checked of pages and names, as functions, so that faults can be planted in front of them."""

import contextlib
import inspect
import io
import re


def run_examples(page):
    """Run the Python blocks of a page, one after the other; each must print something."""
    scope = {}
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, page.name, "exec"), scope)  # noqa: S102
        assert printed.getvalue(), f"an example of {page.name} prints nothing"


def dead_links(page, root, generated):
    """Return the relative links of a page that lead to no file; those to generated pages are skipped."""
    dead = []
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            folder = root / "docs" if target.startswith("/") else page.parent
            path = (folder / target.lstrip("/")).resolve()
            written = not path.relative_to(root).as_posix().startswith(generated)
            dead += [target] if written and not path.exists() else []
    return dead


def without_docstring(holder, names):
    """Return the names of a module without a docstring, and the module itself if it has none."""
    bare = [name for name in names if not inspect.getdoc(getattr(holder, name))]
    return bare if inspect.getdoc(holder) else [holder.__name__, *bare]


def without_card(methods, carded):
    """Return the names of methods that no card shows."""
    return sorted(method.__name__ for method in methods if method not in carded)
