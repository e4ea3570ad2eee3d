"""What mkdocs.yml needs beside the documents: README as the first page, the pictures of bench/results, and links to sources,
which are no pages, as plain text. A link to a file that is not there is an error."""

import os
import pathlib
import posixpath
import re
import shutil

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
pictures = set()


def on_files(files, config):
    text = (ROOT / "README.md").read_text()
    files.append(File.generated(config, "index.md", content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = "" if page.file.src_path == "index.md" else posixpath.join("docs", posixpath.dirname(page.file.src_path))

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

    return LINK.sub(linked, markdown)


def on_post_build(config):
    for path in pictures:
        to = os.path.join(config["site_dir"], path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(ROOT / path, to)
