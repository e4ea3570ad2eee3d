# SPDX-License-Identifier: Apache-2.0
"""What mkdocs.yml needs beside the documents: README as the first page, pictures and tables of bench/results, and links to sources,
which are no pages, as plain text. A link to a file that is not there is an error. A link to results with the title "picture" is
the picture that `scripts/site.sh --pictures` drew of them, or else plain text. It also writes the report of the papers, which gets a
place in the navigation."""

import os
import pathlib
import posixpath
import re
import shutil
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.structure.nav import Link

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "pictures" / "report.html"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
PICTURE = re.compile(r"\[([^\]]*)\]\((\S+)\.json \"picture\"\)")
RATES = re.compile(r"<!-- rates: (\S+) n=(\d+) load=(\S+) -->")
WORKER = "https://unpkg.com/iframe-worker/shim"
pictures = set()

sys.path.insert(0, str(ROOT / "bench" / "plots"))
import results  # noqa: E402


def on_files(files, config):
    text = (ROOT / "README.md").read_text()
    files.append(File.generated(config, "index.md", content=text.replace("](docs/", "](")))
    return files


def rates(match):
    """Design by operation, in billion items a second."""
    path, n, load = match[1], int(match[2]), float(match[3])
    _, rows = results.read_file(ROOT / path)
    rows = [r for r in rows if r["n"] == n and r["key_bytes"] == 4 and abs((r["load_factor"] or load) - load) < 0.01]
    if not rows:
        raise PluginError(f"{path} has no rows of n={n} load={load}")
    ops = [op for op, _ in results.OPS if any(r["op"] == op for r in rows)]
    lines = ["| | " + " | ".join(ops) + " |", "|---" * (len(ops) + 1) + "|"]
    for design in results.in_order(r["design"] for r in rows):
        of = {r["op"]: r["mitems_per_s"] for r in rows if r["design"] == design}
        lines.append(f"| `{design}` | " + " | ".join(f"{of[op] / 1000:.1f}" if op in of else "-" for op in ops) + " |")
    return "\n".join(lines)


def on_page_markdown(markdown, page, config, files):
    # A page that begins with a comment would be named after its file.
    markdown = re.sub(r"\A<!-- Written by .*? -->\n", "", markdown)
    folder = "" if page.file.src_path == "index.md" else posixpath.join("docs", posixpath.dirname(page.file.src_path))

    def drawn(match):
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        picture = f"build/pictures/{path}.png"
        up = "../" * (folder.count("/") + 1)
        return f"![{match[1]}]({up}{picture})" if (ROOT / picture).exists() else f"[{match[1]}]({match[2]}.json)"

    def linked(match):
        mark, text, target = match[1], match[2], match[3]
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if page.file.src_path == "index.md" and not (ROOT / path).exists():
            path = posixpath.join("docs", target)
        if not (ROOT / path).exists():
            raise PluginError(f"{page.file.src_path}: there is no {path}")
        if mark:
            pictures.add(path)
            up = "../" * page.file.dest_uri.count("/")
            return f'<img alt="{text}" src="{up}{path}">'
        if path.startswith("docs/") and path.endswith(".md") and files.get_file_from_path(path[len("docs/") :]):
            return match[0]
        return f"{text} (`{path}`)"

    # A link in parentheses needs no second pair.
    return re.sub(r"\(([^()\n]+) \((`[^`\n]+`)\)\)", r"(\1: \2)", LINK.sub(linked, PICTURE.sub(drawn, RATES.sub(rates, markdown))))


def on_nav(nav, config, files):
    if REPORT.exists():
        papers = next(item for item in nav if item.title == "Measured").children
        papers = next(item for item in papers if item.title == "Papers")
        papers.children.append(Link("Report: theirs and ours", "measured/papers/report.html"))
    return nav


def on_post_page(output, page, config):
    # The theme would load this script from the network.
    return output.replace(WORKER, "../" * page.file.dest_uri.count("/") + "worker.js")


def on_post_template(output_content, template_name, config):
    return output_content.replace(WORKER, "/worker.js")


def on_post_build(config):
    if REPORT.exists():
        shutil.copy(REPORT, pathlib.Path(config["site_dir"]) / "measured" / "papers")
    for path in pictures:
        to = os.path.join(config["site_dir"], path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(ROOT / path, to)
