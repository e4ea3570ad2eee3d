#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package from its wheel: builds it in a virtual environment of its own, checks the types, runs the tests.
#   scripts/python_test.sh [pytest's arguments]      needs the network for the first run; PYTHON=python3.12 chooses another
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

venv=build/python/venv
[ -e "$venv/bin/pytest" ] || {
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" install --quiet mypy pytest hypothesis numpy pandas polars pyarrow
}
rm -rf build/python/wheel
"$venv/bin/pip" wheel --quiet --no-deps --wheel-dir build/python/wheel ./python
wheel=$(ls build/python/wheel/*.whl)
size=$(stat -c %s "$wheel")
echo "$wheel: $((size / 1024)) KiB"
[ "$size" -lt $((8 << 20)) ] || die "the wheel has over 8 MB"
"$venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
(cd python && "../$venv/bin/mypy")
cd python/tests
exec "../../$venv/bin/pytest" -q -p no:cacheprovider "$@"
