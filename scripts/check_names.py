#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the public names of include/tilehash: what is declared in the namespace `tilehash` itself, and not in its namespaces
`detail`, `engine`, `verbs`, `papers`, `analysis` or `several`. A namespace counts as one name.

Ends with 1 if a name appears that is not in FOR_USERS, if one of these is gone, or if there are more than MOST. Or if any name in
the code, public or not, has a word of AVOID.

usage: check_names.py [--list]      --list prints all, each with the header that declares it
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include" / "tilehash"
NOT_PUBLIC = {"detail", "engine", "verbs", "papers", "analysis", "several"}  # (the last three: opened by headers of their own)
MOST = 40

# What a user has a use for.
FOR_USERS = set(
    """
    map set multimap index key_index dynamic_map table table_view table_options
    tiled bucketed_cuckoo horton robin_hood linear_probing double_hashing chained hash_graph dynamic_hash_graph
    dynamic_cuckoo
    cpu cuda cuda_tile buffer
    insert_report apply_report outcome operation keep
    error invalid_argument out_of_memory cuda_error
    op hashes layouts keys
    join join_size join_options join_kind
    """.split()
)

# Metaphors, and what to write instead.
AVOID = {
    "homeless": "unplaced",
    "guest guests native fellow fellows": "secondary item, primary item",
    "told tell tells who": "result, answer",
    "aside": "sentinel cell",
    "beside": "concurrent, next, apart",
    "anew": "again",
    "journey journeys census": "relocation, counters",
    "depart departs arrive arrives hop hops fly flies": "begin_move, end_move, step",
    "walker walkers wandering seat seats twin twins": "in-flight item, slot, equal keys",
    "stands lies": "is_stored, unchanged",
    "room rooms": "capacity, free slots",
    "stretch stretches wave waves": "share, step",
    "chunk chunks chunked piece pieces": "share, window, or another of the six words in docs/explain/architecture.md",
}
INSTEAD = {word: instead for words, instead in AVOID.items() for word in words.split()}

DECLARES = re.compile(
    r"^(?:template\s*<.*?>\s*(?:requires\s*\(.*?\)\s*)?)*"
    r"(?:(?:inline|static|constexpr|extern|__extension__|typedef|friend|consteval|TILEHASH_FN|__host__|__device__|"
    r"\[\[.*?\]\]|__attribute__\s*\(\(.*?\)\))\s*)*"
    r"(?:(?:class|struct|union|enum(?:\s+class)?)\s+(?:\[\[.*?\]\]\s*|alignas\s*\(.*?\)\s*)*(?P<type>\w+)|(?:using|concept)\s+(?P<alias>\w+)\s*=)"
)
CALLABLE = re.compile(r"(?P<name>\w+|operator\S+)\s*\(")
VARIABLE = re.compile(r"(?P<name>\w+)\s*(?:<[^=]*>)?\s*(?:=|$)")


def code_of(text, keep_lines=False):
    """Without comments, what strings hold, and, unless it keeps lines, preprocessor lines."""
    blank = lambda m: '""' if m[0][0] == '"' else "\n" * m[0].count("\n") or " "
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, text, flags=re.DOTALL)
    if keep_lines:
        return text
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.MULTILINE)


def past_brackets(text, at, opening="<", closing=">"):
    """The position behind the bracket that closes the one at `at`."""
    depth = 0
    while at < len(text):
        if text[at] == opening:
            depth += 1
        elif text[at] == closing and text[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def without_template_heads(text):
    """Without template <...> and the requires-clause behind it."""
    text = text.lstrip()
    while text.startswith("template"):
        text = text[past_brackets(text, text.index("<")) :].lstrip() if "<" in text else ""
        term = re.match(r"(requires\b|&&|\|\|)\s*!?\s*([\w:]*)\s*", text)
        while term:
            text = text[term.end() :]
            if text[:1] == "(":
                text = text[past_brackets(text, 0, "(", ")") :]
            elif text[:1] == "<":
                text = text[past_brackets(text, 0) :]
            text = text.lstrip()
            term = re.match(r"(&&|\|\|)\s*!?\s*([\w:]*)\s*", text)
    return text


def declared(text):
    """The name that a declaration at namespace scope declares, or None."""
    text = " ".join(without_template_heads(text.strip()).split())
    if not text or text.startswith(("static_assert", "extern template", "using namespace", "friend", "TILEHASH_BEGIN", "TILEHASH_END")):
        return None
    match = DECLARES.match(text)
    if match:
        return match["type"] or match["alias"]
    head = re.sub(r"\[\[.*?\]\]|__attribute__ ?\(\(.*?\)\)|\brequires\b.*|\bnoexcept\b.*", "", text)
    match = CALLABLE.search(head)
    if match and "=" not in head[: match.start()]:
        member = head[: match.start()].endswith("::")  # defined outside of its class
        return None if member or match["name"].startswith("operator") else match["name"]
    match = VARIABLE.search(head)
    return match["name"] if match else None


def names_in(text):
    """Name -> namespace path below tilehash, of all declarations at namespace scope."""
    code = code_of(text).replace("TILEHASH_BEGIN_ABI_NAMESPACE", "namespace detail {").replace("TILEHASH_END_ABI_NAMESPACE", "}")
    exported = re.compile(r"\bTILEHASH_PUBLIC(?:_NAMESPACE)?\((\w+)\);")
    grouped = re.compile(r"^namespace \w+ \{\s*(?:TILEHASH_PUBLIC\(\w+\);\s*)+\}", re.MULTILINE)  # count as one name
    found = exported.findall(grouped.sub("", code)) + [m[0].split()[1] for m in grouped.finditer(code)]
    found = [name for name in found if name not in NOT_PUBLIC]
    code = exported.sub("", grouped.sub("", code))
    scopes, begin, at = [], 0, 0
    while at < len(code):
        char = code[at]
        if char == "{":
            before = code[begin:at]
            space = re.search(r"\bnamespace\s+([\w:]+)\s*$", before)
            inner = scopes and scopes[-1] is None
            if space and not inner:
                scopes.append(space[1])
                if scopes[:-1] == ["tilehash"] and space[1] not in NOT_PUBLIC:
                    found.append(space[1])
                begin = at + 1
            else:
                scopes.append(None)
        elif char == "}":
            was = scopes.pop()
            if was is not None:
                begin = at + 1
            elif scopes and scopes[-1] is not None:
                # A function's body ends its declaration; a class' or an initializer's goes on to the semicolon.
                rest = code[at + 1 :].lstrip()
                if not rest.startswith((";", ",")):
                    if scopes == ["tilehash"]:
                        found.append(declared(re.split(r"\{", code[begin:at], maxsplit=1)[0]))
                    begin = at + 1
        elif char == ";" and scopes and scopes[-1] is not None:
            if scopes == ["tilehash"]:
                found.append(declared(re.split(r"\{", code[begin:at], maxsplit=1)[0]))
            begin = at + 1
        at += 1
    return {name for name in found if name}


def words_to_avoid(text):
    """(line, name, what to write instead) of each name with such a word."""
    for number, line in enumerate(code_of(text, keep_lines=True).replace("std::endian::native", "").splitlines(), 1):
        for name in re.findall(r"[A-Za-z_]\w*", line):
            word = next((w for w in name.lower().split("_") if w in INSTEAD), None)
            if word:
                yield number, name, INSTEAD[word]


def main():
    where, avoided = {}, []
    for path in sorted(p for p in ROOT.rglob("*") if p.suffix in (".hpp", ".cuh")):
        header, text = path.relative_to(ROOT).as_posix(), path.read_text()
        for name in names_in(text):
            where.setdefault(name, header)
        avoided += [f"include/tilehash/{header}:{line}: the name {n}: {instead}" for line, n, instead in words_to_avoid(text)]
    if "--list" in sys.argv[1:]:
        for name in sorted(where):
            print(f"{name:28} {where[name]}")
    findings = avoided + [f"include/tilehash/{where[n]}: a new public name: {n}" for n in sorted(set(where) - FOR_USERS)]
    findings += [f"scripts/check_names.py: {n} is no public name any more: strike it" for n in sorted(FOR_USERS - set(where))]
    if len(where) > MOST:
        findings.append(f"scripts/check_names.py: {len(where)} public names, {MOST} at most")
    print("\n".join(findings), end="\n" if findings else "")
    print(f"{len(where)} public names")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
