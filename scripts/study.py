"""What scripts that study something share: runs that are kept, tables, a page whose other parts stay."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
XOFF = os.environ.get("XOFF", str(ROOT / "target/release/xoff"))


class Study:
    def __init__(self, out, dry):
        self.out = out
        self.dry = dry
        self.missed = False

    def run(self, name, scenario, *sets, watched=False):
        """What a run printed as JSON, with its exit code; from the store if it is there. What ports did window by window,
        from which a run knows how evenly equal links were used, is seen only where it is `watched`."""
        kept = self.out / f"{name}.json"
        if not kept.exists():
            if self.dry:
                self.missed = True
                return None
            print(name, flush=True)
            source = scenario
            if "\n" in scenario:
                source = self.out / f"{name}.toml"
                source.write_text(scenario)
            words = [XOFF, "run", str(source), "--json", "--threads", "1"]
            for entry in sets:
                words += ["--set", entry]
            folder = self.out / f"{name}.run"
            shutil.rmtree(folder, ignore_errors=True)
            words += ["--out", str(folder)] if watched else ["--no-out"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            shutil.rmtree(folder, ignore_errors=True)
            if not done.stdout.strip():
                sys.exit(f"{name}: {done.stderr}")
            told = json.loads(done.stdout)
            told["exit"] = done.returncode
            told["told"] = done.stderr
            kept.write_text(json.dumps(told))
        return json.loads(kept.read_text())


def job(run, place=0):
    return run["jobs"][place]


def busbw(run):
    return job(run)["collectives"][0]["busbw_gb_per_s"]


def jct(run):
    return job(run)["jct_us"]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def sections(place):
    """What a page has, by the titles of its sections."""
    if not place.exists():
        return {}
    parts = place.read_text().split("\n## ")[1:]
    return {part.splitlines()[0]: f"## {part}" for part in parts}


def main(about, parts, name, page, head):
    """Runs the parts that are asked for and writes the page. A part is a function of a `Study` that returns the title of
    its section and its text; of parts that have not been run the page keeps what it says."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / name, help="where runs are kept")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where the page goes")
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts), metavar="PART", help="parts of the study")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    place = given.docs / page
    kept = sections(place)
    text = [head]
    for own, part in parts.items():
        study = Study(given.out, given.page or own not in given.only)
        title, section = part(study)
        text.append(kept[title] if study.missed and title in kept else f"## {title}\n\n{section}")
    place.write_text("\n".join(text))
    print(f"wrote {place}")
