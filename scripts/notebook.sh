#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs python/examples/analysis.ipynb in Jupyter and stores its results and plots in it. scripts/python_test.sh comes first:
# it makes the virtual environment and installs the package.
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

venv=$PWD/build/python/venv
[ -e "$venv/bin/pytest" ] || die "no $venv: run scripts/python_test.sh"
"$venv/bin/pip" install --quiet nbconvert ipykernel matplotlib networkx
PATH=$venv/bin:$PATH "$venv/bin/jupyter" nbconvert --log-level WARN --to notebook --execute --inplace python/examples/analysis.ipynb
# Times and versions of a run are no part of the notebook.
"$venv/bin/python" - python/examples/analysis.ipynb <<'END'
import json
import sys

notebook = json.load(open(sys.argv[1]))
notebook["metadata"] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
for cell in notebook["cells"]:
    cell["metadata"] = {}
with open(sys.argv[1], "w") as out:
    json.dump(notebook, out, indent=1, ensure_ascii=False)
    out.write("\n")
END
