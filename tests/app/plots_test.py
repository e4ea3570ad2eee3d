#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/plot.sh run, as a user calls it. What draws a picture is skipped where nobody has called `scripts/plot.sh
--prepare`: tests fetch nothing."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/plots"))
import results  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
DRAWER = CACHE / "tilehash/plots/bin/python3"

RATES = {  # of build, and of find_hit
    "linear_probing": (50, 80),
    "tiled": (100, 70),
    "dynamic_hash_graph": (40, 3),
    "std::unordered_map": (1, 10),
}
HEADER = {"program": "tilehash", "machine": "A Machine", "cores": 2, "threads": 2, "repeat": 3, "commit": "c0ffee", "gpu": None}


def row(design, op, rate):
    return {"design": design, "space": "cpu", "threads": 1 if "::" in design and op == "build" else 2,
            "input": "lines:/home/me/words.txt", "n": 1000, "unique": 900, "key_bytes": 8, "value_bytes": 4,
            "load_factor": 0.8, "bytes_per_pair": 15.0, "op": op, "items": 1000, "failed": 0, "wrong": 0, "verified": True,
            "mitems_per_s": rate, "seconds": {"min": 0.9e-3 / rate, "median": 1e-3 / rate, "max": 1.2e-3 / rate, "runs": []}}  # fmt: skip


class Plots(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.json = pathlib.Path(self.folder.name) / "run.json"
        rows = [row(d, op, rate) for d, rates in RATES.items() for op, rate in zip(("build", "find_hit"), rates)]
        self.json.write_text(json.dumps({"header": HEADER, "rows": rows}))

    def tearDown(self):
        self.folder.cleanup()

    def plot(self, *words, **environment):
        return subprocess.run([ROOT / "scripts/plot.sh", "run", *map(str, words)], capture_output=True, text=True,
                              env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment})  # fmt: skip

    def test_experiments_without_a_picture_are_refused_in_one_line(self):
        for header in (HEADER, {**HEADER, "experiment": "yardstick"}):
            self.json.write_text(json.dumps({"header": header, "rows": [row("tiled", "build", 3)]}))
            drawn = subprocess.run([sys.executable, ROOT / "bench/plots/plot.py", self.json, "no.png"], capture_output=True, text=True)
            self.assertNotEqual(drawn.returncode, 0)
            self.assertIn("not one of thesis/size", drawn.stderr)
            self.assertNotIn("Traceback", drawn.stderr)

    def test_terminal_draws_bars_that_fit(self):
        for columns in (60, 80, 100):
            drawn = self.plot(self.json, "--terminal", COLUMNS=str(columns))
            self.assertEqual(drawn.returncode, 0, drawn.stderr)
            self.assertNotIn("\x1b", drawn.stdout, "no colours in a pipe")
            for said in ("lines:words.txt", "A Machine", "2 threads", "load 0.80", "* on one thread"):
                self.assertIn(said, " ".join(drawn.stdout.split()))
            self.assertNotIn("/home/me", drawn.stdout)
            for line in drawn.stdout.splitlines():
                self.assertLessEqual(len(line), columns, line)
            bars = {line.split()[0]: line.count("\u2588") for line in drawn.stdout.split("find, all")[0].splitlines() if "\u2588" in line}
            self.assertAlmostEqual(bars["linear_probing"], bars["tiled"] / 2, delta=1)

    def test_terminal_ranks_by_what_is_asked_for(self):
        def order(*rank):
            text = self.plot(self.json, "--terminal", *rank).stdout.split("build,")[1].split("\n\n")[0]
            return [line.split()[0] for line in text.splitlines()[1:]]

        self.assertEqual(order(), ["tiled", "linear_probing", "dynamic_hash_graph", "std::unordered_map"])
        self.assertEqual(order("--rank", "find_hit"), ["linear_probing", "tiled", "std::unordered_map", "dynamic_hash_graph"])

    def test_what_cannot_be_plotted_is_said_in_one_line(self):
        bad = pathlib.Path(self.folder.name) / "bad.json"
        bad.write_text("{")
        for words in (("/nonexistent.json",), (bad,), (self.json, "--rank", "walk"), (pathlib.Path(self.folder.name),)):
            failed = self.plot(*words, "--terminal")
            self.assertEqual(failed.returncode, 2, words)
            self.assertEqual(failed.stderr.count("\n"), 1, failed.stderr)
            self.assertTrue(failed.stderr.startswith("error: "), failed.stderr)

    def test_all_designs_have_kin(self):
        designs = re.findall(r"^tilehash_program_design\((\w+)", (ROOT / "apps/tilehash/designs.cmake").read_text(), re.MULTILINE)
        self.assertIn("tiled", designs)
        others = [d for d in designs if results.color_of(d) == results.OTHER]
        self.assertEqual(others, [], "name their kin in bench/plots/results.py")
        self.assertEqual(results.color_of("mega_kv"), results.color_of("bucketed_cuckoo"))
        self.assertEqual(results.color_of("absl::flat_hash_map"), results.PEER)

    @unittest.skipUnless(DRAWER.exists(), "needs scripts/plot.sh --prepare")
    def test_draws_a_picture_and_an_svg(self):
        picture = pathlib.Path(self.folder.name) / "run.png"
        drawn = self.plot(self.json, picture, "--rank", "find_hit")
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertEqual(picture.read_bytes()[:4], b"\x89PNG")
        self.assertIn("<svg", picture.with_suffix(".svg").read_text())


if __name__ == "__main__":
    unittest.main()
