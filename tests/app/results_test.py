#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded runs: what scripts/check_results.py packs is read again, and scripts/record.sh --from makes a release of them."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bench/plots")]
import check_results  # noqa: E402
import results  # noqa: E402


def packed_and_read(rows):
    text = check_results.text_of(check_results.packed({"header": {}, "rows": rows}))
    return results.unpacked(json.loads(text))


class Packing(unittest.TestCase):
    def test_rows_are_the_same(self):
        rows = [{"design": design, "n": n, "items": n, "seconds": {"min": n / 8, "median": n / 8, "max": n / 4 + op}, "op": op}
                for design in ("tiled", "horton") for n in (1, 2) for op in (0, 1)]  # fmt: skip
        rows.insert(3, {"design": "tiled", "is_sorted": True, "curve": [1, 1, 2], "nothing": None})
        rows.append({"design": "tiled", "is_sorted": 1, "curve": [1, 1, 2], "nothing": None})
        self.assertEqual(list(map(json.dumps, map(sorted_fields, packed_and_read(rows)))), list(map(json.dumps, map(sorted_fields, rows))))

    def test_one_row(self):
        self.assertEqual(packed_and_read([{"n": 1.5, "op": "build"}]), [{"n": 1.5, "op": "build"}])

    def test_repeated_and_equal_values_are_left_out(self):
        rows = [{"n": n, "items": n, "op": op} for n in (1, 2) for op in (5, 6)]
        packed = check_results.packed({"header": {}, "rows": rows})
        self.assertEqual(packed["columns"], [["n,items", "op"]])
        self.assertEqual(packed["rows"], [[0, 0, 1, 5], [0, 1, 6], [0, 0, 2, 5], [0, 1, 6]])

    def test_profiles_name_kernels_once(self):
        launch = '"{}","1","tilehash","host","{}","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","Section","{}","ns","1,000"\n'
        text = "NVIDIA H200\n" + '"ID","Process ID"\n'
        text += "".join(launch.format(i, kernel, metric) for i, kernel in enumerate("aba") for metric in ("time", "wait"))
        lines = ["NVIDIA H200", "metrics: time ns, wait ns", "kernel 0: a", "0 (256,1,1) (8,1,1) 1000 1000", "kernel 1: b",
                 "1 (256,1,1) (8,1,1) 1000 1000", "0 (256,1,1) (8,1,1) 1000 1000"]  # fmt: skip
        self.assertEqual(check_results.short_profile(text), "\n".join(lines) + "\n")


def sorted_fields(row):
    return {name: sorted_fields(value) if isinstance(value, dict) else value for name, value in sorted(row.items())}


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Recording(unittest.TestCase):
    """A repository of the scripts alone, and a folder that `tilehash reproduce` wrote elsewhere."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name) / "repository"
        self.runs = pathlib.Path(self.folder.name) / "runs"
        (self.root / "scripts").mkdir(parents=True)
        (self.root / "bench/results").mkdir(parents=True)
        self.runs.mkdir()
        for name in ("lib.sh", "record.sh", "check_results.py"):
            shutil.copy(ROOT / "scripts" / name, self.root / "scripts")
        self.git("init", "-q")
        self.commit = self.save("first")

    def tearDown(self):
        self.folder.cleanup()

    def git(self, *words):
        settings = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", "-C", self.root, *settings, *words], capture_output=True, text=True, check=True).stdout.strip()

    def save(self, subject):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "--short=12", "HEAD")

    def write(self, entry, run, commit=None, gpu="NVIDIA H200"):
        header = {"version": "1.2.3", "commit": commit or self.commit, "machine": "Intel", "gpu": gpu, "entry": entry, "runs": [run]}
        file = self.runs / f"{entry.replace(':', '_')}.json"
        file.write_text(json.dumps({"header": header, "rows": [{"n": 1}, {"n": 2}]}))

    def record(self, machine="h200"):
        words = [self.root / "scripts/record.sh", machine, "--from", self.runs]
        run = subprocess.run(words, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr

    def test_files_of_the_machine_are_recorded_once(self):
        self.write("li:table4", "tilehash bench a")
        self.write("li:table5", "tilehash bench a")
        self.write("li:table6", "tilehash bench b", gpu=None)
        (self.runs / "environment.json").write_text("{}")
        self.save("later")
        code, text = self.record()
        self.assertEqual(code, 0, text)
        release = self.root / "bench/results/h200/1.2.3"
        self.assertEqual(sorted(path.name for path in release.iterdir()), ["li_table4.json", "li_table5.json"])
        self.assertTrue((release / "li_table5.json").is_symlink())
        self.assertEqual(results.unpacked(json.loads((release / "li_table5.json").read_text())), [{"n": 1}, {"n": 2}])
        self.save("recorded")
        self.assertIn("a release is recorded once", self.record()[1])
        check = [self.root / "scripts/check_results.py"]
        self.assertEqual(subprocess.run(check, capture_output=True).returncode, 0)
        file = release / "li_table4.json"
        file.write_text(file.read_text().replace("[0,0,1]", "[0,0,3]"))
        self.save("changed")
        self.assertIn("a release's results stay as they are", subprocess.run(check, capture_output=True, text=True).stdout)

    def refused(self, why):
        code, text = self.record()
        self.assertNotEqual(code, 0)
        self.assertIn(why, text)
        self.assertFalse((self.root / "bench/results/h200").exists())

    def test_two_commits_are_refused(self):
        self.write("li:table4", "tilehash bench a")
        self.write("li:table5", "tilehash bench b", commit="0123456789ab")
        self.refused("one commit is needed")

    def test_changed_and_unknown_commits_are_refused(self):
        for commit in (f"{self.commit}-dirty", "0123456789ab"):
            self.write("li:table4", "tilehash bench a", commit=commit)
            self.refused("no clean commit before")

    def test_another_machine_is_refused(self):
        self.write("li:table4", "tilehash bench a", gpu="NVIDIA H100 80GB HBM3")
        self.refused("0 files of h200")

    def test_a_tree_with_changes_is_refused(self):
        self.write("li:table4", "tilehash bench a")
        (self.root / "new").write_text("")
        self.refused("the tree has changes")


if __name__ == "__main__":
    unittest.main()
