#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package from its wheel: builds it in a virtual environment of its own, checks the types, runs the tests.
#   scripts/python_test.sh [pytest's arguments]      needs the network for the first run; PYTHON=python3.12 chooses another
#   scripts/python_test.sh quick [dask]              the code of the documents and of the notebook, with dask one test of it,
#                                                    not optimised and without pytest; ends with 77 where pip or Python.h is missing
#   scripts/python_test.sh bench [arguments]         python -m tilehash.bench of the wheel, beside the other libraries
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [ "${1:-}" = quick ]; then
  python=${PYTHON:-python3}
  packages="${XDG_CACHE_HOME:-$HOME/.cache}/tilehash/python"
  export PYTHONPATH="$packages.dask:$packages:$packages.plots" PYTHONDONTWRITEBYTECODE=1
  [ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ] || {
    say "skipped: no Python.h (python3-dev has it)"
    exit 77
  }
  "$python" -c 'import nanobind, numpy' 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --target "$packages" 'nanobind>=2.2' numpy || {
    say "skipped: pip could not install nanobind and numpy"
    exit 77
  }
  build=build/python/quick
  cmake -S python -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$(llvm_tool clang++)" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" \
    -DPython_EXECUTABLE="$("$python" -c 'import sys; print(sys.executable)')" \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DTILEHASH_OPTIMISATION=-O0 >/dev/null
  cmake --build "$build" --parallel "$(jobs)" >/dev/null
  cmake --install "$build" --prefix "$build/site" >/dev/null
  cp python/tilehash/*.py "$build/site/tilehash/"
  "$python" -c 'import matplotlib, networkx' 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check --no-compile --upgrade --target "$packages.plots" matplotlib networkx ||
    say "skipped: the notebook, whose matplotlib or networkx pip could not install"
  [ "${2:-}" != dask ] || "$python" -c 'import dask.dataframe, distributed' 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check --no-compile --upgrade --target "$packages.dask" 'dask[dataframe]' distributed ||
    say "skipped: the test with Dask, which pip could not install"
  PYTHONPATH="$build/site:python/tests:$PYTHONPATH" exec "$python" -c '
import sys
import test_notebook, test_readme
for module in test_readme, test_notebook:
    for name, test in vars(module).items():
        if name.startswith("test_"):
            test()
            print("passed:", name)
import importlib.util
if "dask" in sys.argv and all(map(importlib.util.find_spec, ("dask", "distributed", "pandas", "pyarrow"))):
    import test_dask_frames
    test_dask_frames.test_partitions_on_a_cluster()
    print("passed: test_partitions_on_a_cluster")
' "${@:2}"
fi

venv=build/python/venv
[ -e "$venv/bin/pytest" ] || {
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" install --quiet mypy pytest hypothesis numpy pandas polars pyarrow 'dask[dataframe]' distributed matplotlib networkx
}
rm -rf build/python/wheel
"$venv/bin/pip" wheel --quiet --no-deps --wheel-dir build/python/wheel ./python
wheel=$(ls build/python/wheel/*.whl)
size=$(stat -c %s "$wheel")
echo "$wheel: $((size / 1024)) KiB"
[ "$size" -lt $((8 << 20)) ] || die "the wheel has over 8 MB"
"$venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
(cd python && "../$venv/bin/mypy")
if [ "${1:-}" = bench ]; then
  "$venv/bin/pip" install --quiet duckdb
  exec "$venv/bin/python" -m tilehash.bench "${@:2}"
fi
cd python/tests
exec "../../$venv/bin/pytest" -q -p no:cacheprovider "$@"
