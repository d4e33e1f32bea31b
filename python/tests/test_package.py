"""The package as a whole: its types, its tour."""

import pathlib
import subprocess
import sys

import nbclient
import nbformat

FOLDER = pathlib.Path(__file__).resolve().parents[1]


def test_types_hold() -> None:
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tour_can_be_taken(tmp_path: pathlib.Path) -> None:
    tour = nbformat.read(FOLDER / "tour.ipynb", as_version=4)
    nbclient.NotebookClient(tour, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / "victim.pdf").read_bytes().startswith(b"%PDF")
