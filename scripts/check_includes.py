#!/usr/bin/env python3
"""Checks the architecture of include/tilehash (docs/architecture.md):

1. who includes whom: every arrow of the diagram, and none back; no header includes itself in a circle;
2. designs are free of machines: no lane, thread or scheduler is named in designs/;
3. a header of more than 400 lines gives its reason in a line `// length: ...`;
4. the library's own headers are included as <tilehash/...>, and exist.

Prints one line per finding, `file:line: what`, and ends with 1 if there is any.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"
MAX_LINES = 400

# Layer -> the layers it may include, besides itself.
MAY_INCLUDE = {
    "core": set(),
    "tile": {"core"},
    "bucket": {"core", "tile"},
    "space": {"core", "tile"},
    "algorithms": {"core", "tile", "space"},
    "designs": {"core", "tile", "bucket", "algorithms"},
    "bulk": {"core", "tile", "bucket", "designs", "space"},
    "table": {"core", "tile", "bucket", "designs", "space", "bulk"},
    "front": {"core", "tile", "bucket", "designs", "space", "bulk", "table"},
    "umbrella": {"core", "tile", "bucket", "designs", "space", "bulk", "table", "front"},
}

# Layer by path below include/tilehash/; the first match counts.
LAYERS = [
    (r"core/(bucket|concepts)\.hpp", "bucket"),
    (r"core/.*", "core"),
    (r"space/\w*tile\.\w+", "tile"),
    (r"space/\w*algorithms\.\w+", "algorithms"),
    (r"space/.*", "space"),
    (r"designs/.*", "designs"),
    (r"bulk(_\w+)?\.\w+", "bulk"),
    (r"table(_\w+)?\.\w+", "table"),
    (r"(map|set|multimap|index)\.\w+", "front"),
    (r"tilehash\.\w+", "umbrella"),
]

FORBIDDEN_IN_DESIGNS = re.compile(
    r"__CUDA_ARCH__|__CUDACC__|__shfl\w*|__ballot\w*|__syncwarp|__syncthreads|threadIdx|blockIdx|blockDim"
    r"|cooperative_groups|\btbb::|<tbb/|<oneapi/tbb|std::thread|_mm\d*_\w+"
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer(path):
    for pattern, name in LAYERS:
        if re.fullmatch(pattern, path):
            return name
    return None


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


def check(root):
    findings = []
    headers = sorted(p for p in (root / "tilehash").rglob("*") if p.suffix in (".hpp", ".cuh"))
    names = {p.relative_to(root).as_posix() for p in headers}
    graph = {name: [] for name in names}
    for path in headers:
        name = path.relative_to(root).as_posix()

        def complain(line, what, name=name):
            findings.append(f"include/{name}:{line}: {what}")

        text = path.read_text()
        code = without_comments(text)
        own = layer(name.removeprefix("tilehash/"))
        if own is None:
            complain(1, "belongs to no layer; see scripts/check_includes.py and docs/architecture.md")
            continue

        for match in INCLUDE.finditer(code):
            bracket, target = match.groups()
            line = line_of(code, match.start())
            if bracket == '"':
                complain(line, f'"{target}": headers are included as <tilehash/...>')
            if not target.startswith("tilehash/"):
                continue
            if target not in names:
                complain(line, f"{target} does not exist")
                continue
            graph[name].append(target)
            other = layer(target.removeprefix("tilehash/"))
            if other is not None and other != own and other not in MAY_INCLUDE[own]:
                complain(line, f"{own} may not include {other} ({target})")

        if own == "designs":
            for match in FORBIDDEN_IN_DESIGNS.finditer(code):
                complain(line_of(code, match.start()), f"a design may not name a machine: {match[0]}")

        lines = text.count("\n")
        if lines > MAX_LINES and not re.search(r"^// length: \S", text, re.MULTILINE):
            complain(lines, f"{lines} lines; over {MAX_LINES} needs a line `// length: the reason`")

    found = circle(graph)
    if found:
        findings.append("include circle: " + " -> ".join(found))
    return findings


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    findings = check(root)
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
