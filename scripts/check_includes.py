#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the architecture of include/tilehash (docs/explain/architecture.md):

1. who includes whom: the rooms' order, no arrow back, no circle between rooms or headers, and no engine a part of a design;
2. designs are free of machines: no lane, thread or scheduler is named in designs/ and papers/;
3. no room that serves all designs names one, and none below them a word that only the needs of one explain;
4. each design says by a static_assert which concepts it means to have;
5. a header of more than 400 lines gives its reason in a line `// length: ...`;
6. the library's own headers are included as <tilehash/...>, and exist;
7. a header that uses a name which core/prologue.hpp frees of macros includes it, and ends with core/epilogue.hpp.

Prints one line per finding, `file:line: what`, and ends with 1 if there is any.

usage: check_includes.py [--graph] [INCLUDE_FOLDER]      --graph draws the rooms and the arrows between them
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"
MAX_LINES = 400

# Room by path below include/tilehash/, lowest first; the first match counts. `concepts` is what designs promise and stands
# in their folder: it is all that a kernel may know of them.
ROOMS = [
    ("core", r"core/.*"),
    ("space", r"space/.*"),
    ("algorithm", r"algorithm/.*"),
    ("concepts", r"designs/concepts\.hpp"),
    ("designs", r"designs/.*"),
    ("kernel", r"kernel/.*"),
    ("view", r"table_view\.hpp"),
    ("engine", r"engine/.*"),
    ("papers", r"papers/.*"),
    ("table", r"(table|misuse)\.hpp|table/.*"),
    ("front", r"(map|set|multimap|index|dynamic_map|rows)\.hpp"),
    ("instances", r"instances/.*"),
    ("join", r"join(_graph)?\.hpp"),
    ("analysis", r"analysis/.*"),
    ("several", r"several/.*"),
    ("umbrella", r"tilehash\.hpp"),
]
ORDER = [room for room, _ in ROOMS]

# Room -> the rooms it may include, besides itself.
MAY_INCLUDE = {
    "core": set(),
    "space": {"core"},
    "algorithm": {"core", "space"},
    "concepts": {"core", "space"},
    "designs": {"core", "space", "algorithm", "concepts"},
    "kernel": {"core", "space", "algorithm", "concepts"},
    "view": {"core", "space", "algorithm", "concepts", "kernel"},
    "engine": {"core", "space", "algorithm", "concepts", "designs", "kernel", "view"},
    "papers": {"core", "space", "algorithm", "concepts", "designs", "engine"},  # included by no other room
    "table": {"core", "space", "algorithm", "concepts", "kernel", "view", "engine"},
    "front": {"core", "space", "concepts", "designs", "engine", "table"},
    "instances": {"space", "engine", "table", "front"},
    "join": {"core", "space", "algorithm", "designs", "kernel", "engine", "table"},
    "analysis": {"core", "space", "algorithm", "engine", "table", "front", "join"},  # included by no other room
    "several": {"core", "space", "algorithm", "concepts", "kernel", "join", "analysis"},  # included by no other room
    "umbrella": {"core", "space", "concepts", "designs", "engine", "table", "front", "join"},
}

MACHINE_WORDS = (
    r"__CUDA_ARCH__|__CUDACC__|__shfl\w*|__ballot\w*|__syncwarp|__syncthreads|threadIdx|blockIdx|blockDim"
    r"|\b\w*(?:lane|thread)s?\b|cooperative_groups|\btbb::|<tbb/|<oneapi/tbb|std::thread|_mm\d*_\w+|\bhas_lanes\b|\bon_gpu\b|\bwarp\w*"
    r"|\btilehash::(?:cpu|cuda)\b"
)
# What a table of one design asks for, beside the designs' names (which are those of their headers).
NEED_WORDS = (
    r"max_load_factor_of_\w+|region_build|is_partition_built|stash\w*|retries|build_from_bins|layout_for|\w+_least_items"
)
BELOW_DESIGNS = {"core", "space", "algorithm", "kernel"}
NAME_NO_DESIGN = {"view", "engine", "table"}

# (header, word) -> why it may stand there. One that is no longer needed is a finding.
ALLOWED = {
    ("tilehash/engine/records.hpp", "indexed"): "the engine of one design, and its other half",
    ("tilehash/engine/records_view.hpp", "indexed"): "the same",
}
# These are said with others, which prove them: aliases, and what designs share.
WITHOUT_PROOF = r"tilehash/(?:designs|papers)/(?:concepts|load_factor|rows|papers|robin_hood_ages|\w+_probing|double_hashing)\.hpp"

# What other headers define as macros is suspended between these two.
PROLOGUE, EPILOGUE = "tilehash/core/prologue.hpp", "tilehash/core/epilogue.hpp"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(path):
    return next((room for room, pattern in ROOMS if re.fullmatch(pattern, path.removeprefix("tilehash/"))), None)


def without_comments(text):
    """Blanks comments, keeping line numbers; leaves string literals alone."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return pattern.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def circle(graph):
    """Returns one circle of `graph` as a list of names, or None."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name) :] + [name]
        if name in done:
            return None
        path.append(name)
        for other in graph[name]:
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(name)
        return None

    for name in graph:
        found = visit(name)
        if found:
            return found
    return None


def headers_below(root):
    """The headers by name, with their text."""
    paths = sorted(p for p in (root / "tilehash").rglob("*") if p.suffix in (".hpp", ".cuh"))
    return {p.relative_to(root).as_posix(): p.read_text() for p in paths}


def includes(texts):
    """Header -> [(line, bracket, target)] """
    found = {}
    for name, text in texts.items():
        code = without_comments(text)
        found[name] = [(line_of(code, m.start()), m[1], m[2]) for m in INCLUDE.finditer(code)]
    return found


def arrows(texts):
    """Room -> {room that it includes: how often}."""
    count = {room: {} for room in ORDER}
    for name, lines in includes(texts).items():
        for _, _, target in lines:
            own, other = room_of(name), room_of(target) if target in texts else None
            if own and other and own != other:
                count[own][other] = count[own].get(other, 0) + 1
    return count


def design_names(texts):
    own = {re.fullmatch(r"tilehash/(?:designs|papers)/(\w+)\.hpp", name) for name in texts}
    return sorted({m[1] for m in own if m} - {"concepts", "load_factor", "rows", "multi", "papers"})  # (those are words of any text)


def check(root):
    texts = headers_below(root)
    findings = []
    graph = {name: [] for name in texts}
    unused = set(ALLOWED) if root == ROOT else set()
    designs = "|".join(rf"{n}\w*" for n in design_names(texts))
    suspended = "|".join(re.findall(r"#undef (\w+)", texts.get(PROLOGUE, ""))) or "(?!)"
    names, names_and_needs = rf"\b(?:{designs})\b", rf"\b(?:{designs}|{NEED_WORDS})\b"

    for name, lines in includes(texts).items():
        text = texts[name]
        code = without_comments(text)

        def complain(line, what, name=name):
            findings.append(f"include/{name}:{line}: {what}")

        def words(pattern, what, name=name, code=code, complain=complain):
            for match in re.finditer(pattern, code):
                if (name, match[0]) in ALLOWED:
                    unused.discard((name, match[0]))
                else:
                    complain(line_of(code, match.start()), f"{what}: {match[0]}")

        own = room_of(name)
        if own is None:
            complain(1, "belongs to no room; see scripts/check_includes.py and docs/explain/architecture.md")
            continue
        for line, bracket, target in lines:
            if bracket == '"':
                complain(line, f'"{target}": headers are included as <tilehash/...>')
            if not target.startswith("tilehash/"):
                continue
            if target not in texts:
                complain(line, f"{target} does not exist")
                continue
            graph[name].append(target)
            other = room_of(target)
            if other is not None and other != own and other not in MAY_INCLUDE[own]:
                complain(line, f"{own} may not include {other} ({target})")
            if own == "engine" and re.match(r"tilehash/(?:designs|papers)/\w+/", target):
                complain(line, f"an engine may not include a part of a design ({target})")

        if own in ("designs", "papers"):
            words(MACHINE_WORDS, "a design may not name a machine")
        if own in BELOW_DESIGNS | NAME_NO_DESIGN:
            without_includes = re.sub(INCLUDE, lambda m: " " * len(m[0]), code)
            pattern = names_and_needs if own in BELOW_DESIGNS else names
            words(pattern, f"{own} may not know a design", code=without_includes)
        is_design = re.fullmatch(r"tilehash/(?:designs|papers)/\w+\.hpp", name) and not re.fullmatch(WITHOUT_PROOF, name)
        if is_design and not re.search(r"^static_assert\(", code, re.MULTILINE):
            complain(text.count("\n"), "a design ends with a static_assert of the concepts that it means to have")

        own_words = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(INCLUDE, "", code))
        used = re.search(rf"\b(?:{suspended})\b", own_words)
        targets = [target for _, _, target in lines]
        if used and name not in (PROLOGUE, EPILOGUE):
            line = line_of(own_words, used.start())
            begin = next((at for at, _, target in lines if target == PROLOGUE), None)
            if begin is None or begin > line:
                complain(line, f"other headers define a macro `{used[0]}`: include <{PROLOGUE}> before it")
            if targets[-1:] != [EPILOGUE]:
                complain(line, f"other headers define a macro `{used[0]}`: end with #include <{EPILOGUE}>")
        if targets.count(PROLOGUE) != targets.count(EPILOGUE):
            complain(1, f"as many <{PROLOGUE}> as <{EPILOGUE}> are needed")

        length = text.count("\n")
        if length > MAX_LINES and not re.search(r"^// length: \S", text, re.MULTILINE):
            complain(length, f"{length} lines; over {MAX_LINES} needs a line `// length: the reason`")

    for name, word in sorted(unused):
        findings.append(f"scripts/check_includes.py: {word} is no longer in include/{name}: strike it from ALLOWED")
    for what, found in (("header", circle(graph)), ("room", circle(arrows(texts)))):
        if found:
            findings.append(f"{what} circle: " + " -> ".join(found))
    return findings


def draw(root):
    """The rooms from the highest to the lowest, each with how often it includes those below it."""
    texts = headers_below(root)
    count = arrows(texts)
    size = {room: sum(room_of(name) == room for name in texts) for room in ORDER}
    rooms = [room for room in reversed(ORDER) if size[room]]
    back = [(a, b) for a in count for b in count[a] if ORDER.index(b) > ORDER.index(a)]
    out = ["  headers  room       includes, how often"]
    for at, room in enumerate(rooms):
        below = "  ".join(f"{other} {count[room][other]}" for other in reversed(ORDER) if other in count[room])
        mark = "`--" if at == len(rooms) - 1 else "|--"
        out.append(f"  {size[room]:7}  {mark} {room:10} {'-> ' + below if below else ''}".rstrip())
    total = sum(sum(c.values()) for c in count.values())
    out.append(f"{sum(size.values())} headers, {total} arrows between rooms, {len(back)} back, ")
    found = circle(count)
    out[-1] += "circle: " + " -> ".join(found) if found else "no circle"
    return out


def main():
    paths = [a for a in sys.argv[1:] if a != "--graph"]
    root = pathlib.Path(paths[0]).resolve() if paths else ROOT
    if "--graph" in sys.argv[1:]:
        print("\n".join(draw(root)))
    findings = check(root)
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
