#!/usr/bin/env python3
"""`gapscope help` prints every page of the guide, what a rule means and what a command takes; links of README and guide lead somewhere.

    guide_check.py PROGRAM ROOT
"""
import pathlib
import re
import subprocess
import sys

README_LINES, README_WORDS = 120, 700


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def of_help(program, root):
    code, listed, err = run(program, "help")
    if code != 0 or err:
        yield f"help: {code} {err!r}"
    for path in sorted((root / "assets/guide").glob("*.md")):
        title = path.read_text().split("\n")[0].removeprefix("# ")
        if f"  {path.stem} " not in listed or title not in listed:
            yield f"help does not list {path.stem}: {title}"
        code, page, err = run(program, "help", path.stem)
        if code != 0 or err or not page.startswith(title + "\n"):
            yield f"help {path.stem}: {code} {err!r} {page[:80]!r}"
        if any(mark in page for mark in ("](", "<a id", "**", "<!--")):
            yield f"help {path.stem} prints Markdown"
    for topic, wanted in (("overhead_bound", "The host cannot feed the GPU\n"), ("whatif", "How gains are predicted")):
        code, page, _ = run(program, "help", topic)
        if code != 0 or wanted not in page:
            yield f"help {topic}: {code} {page[:80]!r}"
    if "(overhead_bound)" not in run(program, "help", "findings")[1]:
        yield "help findings does not name the rules"
    if run(program, "help", "crop") != run(program, "crop", "--help"):
        yield "help crop is not crop --help"
    for wrong, near in (("securty", "security"), ("overhead_bond", "overhead_bound"), ("\x1b[31m", "")):
        code, out, err = run(program, "help", wrong)
        if code != 2 or out or f'"{near}' not in err or "\x1b" in err:
            yield f"help {wrong!r}: {code} {out!r} {err!r}"


def of_links(root):
    pages = [root / "README.md", *sorted((root / "assets/guide").glob("*.md"))]
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if not target.startswith("http") and not (page.parent / target.split("#")[0]).exists():
                yield f"{page.name} leads to {target}, which is not there"


def of_readme(root):
    text = (root / "README.md").read_text()
    lines, words = text.count("\n"), len(text.split())
    if lines > README_LINES or words > README_WORDS:
        yield f"README.md has {lines} lines and {words} words; at most {README_LINES} and {README_WORDS}: the rest belongs to assets/guide"


if __name__ == "__main__":
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    found = [*of_help(program, root), *of_links(root), *of_readme(root)]
    print("\n".join(found))
    sys.exit(1 if found else 0)
