#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference/verbs/, one a verb, from the docstrings of the headers and from examples/verbs.cpp.

usage: reference.py [--fix]      compares the pages with the docstrings; --fix writes them

A docstring with \\param space has all of PARTS, unless it begins with "As NAME()" and states only the differences.
A line for each that has not, and for each page that differs.
"""

import pathlib
import re
import sys

from check_quotes import region

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "tilehash"
PAGES = ROOT / "docs" / "reference" / "verbs"
HEADERS = ["table.hpp", "table/inserts.hpp", "table/updates.hpp", "table/lookups.hpp", "table/contents.hpp", "table/owner.hpp",
           "engine/multi_verbs.hpp", "engine/records_verbs.hpp", "engine/subtables_verbs.hpp", "join.hpp", "join_graph.hpp",
           "analysis/factorize.hpp", "analysis/group_by.hpp"]
PARTS = {"return": "Returns", "throws": "Throws", "complexity": "Complexity", "memory": "Temporary memory",
         "synchronizes": "Synchronizes", "concurrency": "Concurrency"}
TOGETHER = {  # functions without a page: the page that has them
    "at": "find", "capacity": "size", "load_factor": "size", "bytes": "size", "empty": "size", "options": "size", "key_count": "size",
    "id_limit": "size", "begin_doubling": "double_subtable", "run_doubling": "double_subtable", "end_doubling": "double_subtable",
    "halve_subtable": "double_subtable", "groups": "group_by", "reduce": "group_by", "counts": "group_by", "where": "group_by",
}  # fmt: skip
VIEWS = {"view": "struct table_view {", "mutable_view": "struct mutable_table_view : table_view<Design> {"}
ALSO = {"insert": ("examples/streams.cu", "async"), "view": ("examples/kernel_view.cu", "kernel_view"),
        "mutable_view": ("examples/streams.cu", "kernel_insert")}  # fmt: skip
LONGEST_LINE = 100  # characters of code on a page
GENERATED = "<!-- Written by scripts/reference.py --fix from {}. -->"


class Entry:
    """A docstring: where it begins, its brief, its details, its commands, and the declarations that share it."""

    def __init__(self, path, number, text, decl):
        self.path, self.number, self.decls = path, number, [decl]
        self.brief, self.details, self.parts, self.params = "", "", {}, []
        into = "brief"
        for line in text:
            command = re.match(r"\\(t?param) ([\w,]+) ?(.*)|\\(\w+) ?(.*)", line)
            if command and command[1]:
                self.params.append([command[2].replace(",", "`, `"), command[3]])
                into = "params"
            elif command:
                into = command[4]
                self.parts[into] = command[5]
            elif not line:
                into = "details"
            elif into == "params":
                self.params[-1][1] += " " + line
            elif into in ("brief", "details"):
                setattr(self, into, (getattr(self, into) + " " + line).strip())
            else:
                self.parts[into] += " " + line

    def name(self):
        return re.search(r"(\w+)\(", signature(self.decls[0]))[1]

    def call(self):
        """The call without its space, as a heading has it."""
        inside = signature(self.decls[0]).partition(self.name() + "(")[2].rpartition(")")[0]
        given = [re.split(r" = ", p)[0].split()[-1] for p in re.split(r", (?![^<>]*>)", inside) if p]
        return f"{self.name()}({', '.join(g.replace('...', '') for g in given if g != 'space')})"

    def faults(self):
        if "space" not in [p[0] for p in self.params] or self.brief.startswith("As "):
            return
        makes = re.match(r"explicit|groups\(|void", signature(self.decls[0]))
        yield from (f"no \\{part}" for part in PARTS if part not in self.parts and not (part == "return" and makes))
        if not re.search(r"\b(strong|basic|none|nothing|as \w+\(\)|As \w+\(\))", self.parts.get("throws", "none")):
            yield f"\\throws gives no guarantee, strong or basic: {self.parts['throws']}"


def signature(decl):
    """A declaration without template parameters, constraints and body."""
    decl = re.sub(r"__attribute__\(\(\w+\)\) |\[\[nodiscard\]\] |TILEHASH_FN |\binline ", "", decl)
    while decl.startswith(("template <", "requires ", "requires(")):
        depth = at = 0
        for at, c in enumerate(decl):
            depth += (c in "<(") - (c in ">)")
            if c in ">)" and not depth and not decl.startswith(" &&", at + 1):
                break
        decl = decl[at + 2 :]
    depth = 0
    for at, c in enumerate(decl):
        depth += (c in "(") - (c in ")")
        if c == ")" and not depth and not decl[:at].endswith(("requires(", "operator(")):
            return decl[: at + (7 if decl.startswith(" const", at + 1) else 1)]
    return decl


def lines_of(decl):
    """The signature, in lines that fit a page; a line ends after a parameter."""
    text = signature(decl).replace("( ", "(") + ";"
    if len(text) <= LONGEST_LINE:
        return text
    indent, lines, depth, part = " " * (text.index("(") + 1), [""], 0, ""
    for word in re.split(r" (?!const;)", text):
        depth += sum((c in "<(") - (c in ">)") for c in word)
        part += " " + word if part else word
        if depth > 1 or (depth == 1 and not word.endswith(",")):
            continue  # a parameter in part
        if len(lines[-1] + " " + part) > LONGEST_LINE:
            lines.append(indent + part)
        else:
            lines[-1] += " " + part if lines[-1] else part
        part = ""
    return "\n".join(lines)


def is_function(decl):
    return "(" in signature(decl) and not re.match(r"static|using|struct|inline|enum|class|namespace", signature(decl))


def entries(path, after="", until=""):
    """The entries of a header; only those between two lines, if they are given."""
    lines = path.read_text().split("\n")
    at = lines.index(after) + 1 if after else 0
    end = lines.index(until, at) if until else len(lines)
    hidden, made = False, []
    while at < end:
        begin = at
        while re.match(r"\s*///(?!<)", lines[at]):
            at += 1
        if at > begin:
            text = [line.strip()[3:].strip() for line in lines[begin:at]]
            hidden = (hidden or text[0] == "\\cond") and text[0] != "\\endcond"
            decl, to = "", at
            while to < end and not re.search(r"[{;]\s*$|\}$", decl):
                decl += " " + re.sub(r"\s*//.*", "", lines[to].strip())
                to += 1
            decl = re.sub(r"\s+", " ", decl).strip()
            if text == ["\\overload"] and made:
                made[-1].decls.append(decl)
            elif not hidden and text[0] != "\\endcond":
                made.append(Entry(path, begin + 1, text, decl))
        at = max(at, begin + 1)
    return made


def prose(text, here, verbs):
    """A docstring's text as Markdown: code in back quotes, verbs and documents as links."""

    def linked(match):
        word = match[0]
        if word.startswith("`"):
            return word
        if path := re.fullmatch(r"docs/([\w/]+)(\.md)?", word):
            file = next((ROOT / "docs").glob(f"{path[1]}*.md"))
            return f"[{'ADR ' + file.stem[:4] if path[1].startswith('adr') else file.stem.replace('_', ' ')}](../../{file.relative_to(ROOT / 'docs')})"
        page = verbs.get(re.sub(r"\W.*", "", word))
        return f"[`{word}`]({page}.md)" if page and page != here and word.endswith("()") else f"`{word}`"

    code = r"`[^`]*`|docs/[\w/]+(?:\.md)?|[\w:]+<[\w, ]+>(?:\{\})?|\b[\w:]+\([^()]*(?:\([^()]*\)[^()]*)?\)|\b\w+(?:::\w+)+|"
    code += r"\b\w+\[[^ ,;]*\]|\b[a-z]+(?:_[a-z]+)+\b|Value\{\}"
    return re.sub(code, linked, text).strip()


def section(entry, here, verbs, level):
    yield f"{'#' * level} {entry.call()}"
    yield ""
    yield "```cpp"
    yield from dict.fromkeys(lines_of(decl) for decl in entry.decls)
    yield "```"
    yield ""
    yield prose(entry.brief, here, verbs)
    yield ""
    if entry.details:
        yield prose(entry.details, here, verbs)
        yield ""
    rows = [(f"`{name}`", text) for name, text in entry.params]
    rows += [(label, entry.parts[part]) for part, label in PARTS.items() if part in entry.parts]
    if rows:
        yield "| | |"
        yield "|---|---|"
        yield from (f"| {label} | {prose(text, here, verbs)} |" for label, text in rows)
        yield ""


def example(page):
    for path, name in [("examples/verbs.cpp", page), *[q for p, q in ALSO.items() if p == page]]:
        yield f"<!-- quote: {path} {name} -->"
        yield "```cpp"
        yield region(path, name).rstrip("\n")
        yield "```"
        yield ""


def page_of(page, of, verbs):
    paths = list(dict.fromkeys(str(e.path.relative_to(INCLUDE)) for e in of))
    yield GENERATED.format(", ".join(paths))
    yield f"# {page}"
    yield ""
    yield from example(page)
    yield "`space` is a `cpu`, `map` a `tilehash::map<uint32_t, uint32_t, cpu>`, and `numbers` a `std::vector<uint32_t>`."
    yield ""
    for entry in of:
        yield from section(entry, page, verbs, 2)
    if page in VIEWS:
        yield "## Members of the view"
        yield ""
        view = entries(INCLUDE / "table_view.hpp", VIEWS[page], "};")
        for entry in view:
            if is_function(entry.decls[0]) and not re.search(r"table_view$|^\w+_at$", entry.name()):
                yield from section(entry, page, {}, 3)
    yield "[All verbs](README.md) have rules in common. [The matrix](../verbs.md) lists the designs that offer a verb."


def index_of(pages, table, verbs):
    yield GENERATED.format("the headers")
    yield "# Reference of verbs"
    yield ""
    yield "| verb | effect |"
    yield "|---|---|"
    for page, of in sorted(pages.items()):
        yield f"| [`{page}`]({page}.md) | {prose(re.split(r'(?<=[.]) ', of[0].brief)[0], page, verbs)} |"
    yield ""
    yield "[The matrix](../verbs.md) lists the designs that offer a verb."
    yield ""
    yield "## Arguments"
    yield ""
    yield "`keys_in` and `values_in` are spans of constant keys and values: any array of them converts to one, in memory of the space. A"
    yield "`flags` is made from an array of `bool` or of bytes. `value_element` is the table's value type."
    yield "[examples/verbs.cpp](../../../examples/verbs.cpp) has a complete program with the example of each page."
    yield ""
    yield "## Rules of all verbs of tables"
    yield ""
    text = [line.strip()[3:].strip() for line in table]
    for paragraph in re.split(r"\n\n", "\n".join(text)):
        head, _, rest = paragraph.replace("\n", " ").partition(". ")
        if re.fullmatch(r"[A-Z]\w+", head):
            yield f"* **{head}.** {prose(rest, '', verbs)}"


def main():
    faults, pages, fix = [], {}, "--fix" in sys.argv[1:]
    listed = [e for header in HEADERS for e in entries(INCLUDE / header) if is_function(e.decls[0])]
    for entry in listed:
        faults += [f"{entry.path.relative_to(ROOT)}:{entry.number}: {fault}" for fault in entry.faults()]
        name = re.sub(r"_async$", "", entry.name())
        pages.setdefault(TOGETHER.get(name, name), []).append(entry)
    verbs = {re.sub(r"_async$", "", e.name()) + end: page for page, of in pages.items() for e in of for end in ("", "_async")}
    lines = (INCLUDE / "table.hpp").read_text().split("\n")
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("/// A hash table of one design")) :]
    table = table[: next(i for i, line in enumerate(table) if not line.startswith("///"))]
    written = {name: "\n".join(page_of(name, of, verbs)) for name, of in pages.items()}
    written["README"] = "\n".join(index_of(pages, table, verbs))
    nav = (ROOT / "mkdocs.yml").read_text()
    for name, text in written.items():
        path = PAGES / f"{name}.md"
        if fix:
            PAGES.mkdir(exist_ok=True)
            path.write_text(text.rstrip("\n") + "\n")
        elif not path.exists() or path.read_text() != text.rstrip("\n") + "\n":
            faults.append(f"{path.relative_to(ROOT)}: differs from the docstrings: scripts/reference.py --fix")
        if f"reference/verbs/{name}.md" not in nav:
            faults.append(f"mkdocs.yml: has no reference/verbs/{name}.md")
    faults += [f"{p.relative_to(ROOT)}: no verb has this page" for p in PAGES.glob("*.md") if p.stem not in written]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
