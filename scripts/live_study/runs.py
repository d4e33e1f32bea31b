"""Runs the program, and keeps what it leaves.

OUT/CASE/recipe.json      what the case is made from
OUT/CASE/1-k100/          a live run: the first of its case, at k = 100
OUT/CASE/refused.txt      why there is none
OUT/CASE/beside/          `xoff compare-live` of those that count, with the simulation
OUT/k.json                where each scenario kept up
"""
import hashlib
import json
import shutil
import subprocess
import time
import tomllib

# A repetition is slower by this factor.
RAISE = 1.5
WRONG_INPUT, NO_RIGHTS = 2, 3


class Refused(Exception):
    """What ends the study, for who started it."""


def summary(folder):
    return json.loads((folder / "run.json").read_text())


def kept_up(run):
    return run["live_timing"]["verdict"] == "kept"


class Bench:
    """The program, and where its runs are kept."""

    def __init__(self, program, root, out, time_scales, raises):
        self.program, self.root, self.out = program, root, out.absolute()
        self.given, self.raises = time_scales, raises

    def xoff(self, *arguments):
        command = [str(self.program), *map(str, arguments)]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)

    def schemes(self):
        """(name, scheme) of the whole registry. DCQCN has the preset of its paper, as in victim.toml."""
        names = [scheme["name"] for scheme in json.loads(self.xoff("schemes", "--json").stdout)]
        return [(name, "dcqcn:paper" if name == "dcqcn" else name) for name in names]

    # ---- What is there

    def attempts(self, case, repeat):
        """Finished live runs of one repetition, slowest last."""
        folders = (self.out / case.name).glob(f"{repeat}-k*/run.json")
        return sorted((path.parent for path in folders), key=lambda path: summary(path)["live_timing"]["time_dilation_factor"])

    def live(self, case):
        """The live runs that count: the last of each repetition."""
        return [self.attempts(case, repeat)[-1] for repeat in range(1, case.repeats + 1) if self.attempts(case, repeat)]

    def simulation(self, case):
        """The summary of the simulation, or none."""
        folder = self.out / case.name / "beside" / "simulation"
        return summary(folder) if (folder / "run.json").exists() else None

    def refusal(self, case):
        path = self.out / case.name / "refused.txt"
        return path.read_text() if path.exists() else None

    # ---- What is missing

    def make(self, cases):
        began = time.monotonic()
        for number, case in enumerate(cases, 1):
            minutes = (time.monotonic() - began) / 60
            print(f"[{number}/{len(cases)}, {minutes:.0f} min] {case.name}", flush=True)
            self.check_recipe(case)
            for repeat in range(1, case.repeats + 1):
                if self.refusal(case) is None:
                    self.make_live(case, repeat)
            if self.refusal(case) is None:
                self.make_beside(case)

    def check_recipe(self, case):
        """A finished run counts only if it was made from what is asked for now."""
        scenario = self.root / f"scenarios/live/{case.scenario}.toml"
        # What it says, without comments.
        said = json.dumps(tomllib.loads(scenario.read_text()), sort_keys=True)
        digest = hashlib.sha256(said.encode()).hexdigest()
        recipe = {"scenario": digest, "scheme": case.scheme, "sets": list(case.sets), "seed": case.seed}
        path = self.out / case.name / "recipe.json"
        if path.exists() and json.loads(path.read_text()) != recipe:
            raise Refused(f"{path.parent} was made from something else: remove it, or use another --out")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(recipe, indent=1) + "\n")

    def make_live(self, case, repeat):
        """Raises k until the machine keeps up, or has been asked often enough."""
        while True:
            done = self.attempts(case, repeat)
            if not done:
                k = self.first_k(case)
            elif kept_up(summary(done[-1])):
                self.remember(case, summary(done[-1])["live_timing"]["time_dilation_factor"])
                return
            elif len(done) > self.raises:
                return
            else:
                k = round(summary(done[-1])["live_timing"]["time_dilation_factor"] * RAISE)
            if not self.run_live(case, repeat, k):
                return

    def run_live(self, case, repeat, k):
        """One run; `False` if the scenario cannot run live."""
        folder = self.out / case.name
        # Its k is known when it has run.
        staging = folder / "running"
        shutil.rmtree(staging, ignore_errors=True)
        arguments = ["live", f"scenarios/live/{case.scenario}.toml", "--seed", case.seed, "--dilation", k, "--out", staging]
        # A scheme that comes by --set may have parameters that come by --set.
        scheme = [f"scheme.name={case.scheme}"] if case.scheme else []
        arguments += [word for text in (*scheme, *case.sets) for word in ("--set", text)]
        done = self.xoff(*arguments, "--quiet")
        if done.returncode == WRONG_INPUT:
            (folder / "refused.txt").write_text(done.stderr)
            print("   refused:", done.stderr.splitlines()[0], flush=True)
            return False
        if not (staging / "run.json").exists():
            hint = ": needs root, or `unshare -Ur`" if done.returncode == NO_RIGHTS else ""
            raise Refused(f"{case.name} left nothing (exit code {done.returncode}){hint}\n{done.stderr}")
        reality = summary(staging)["live_timing"]
        staging.rename(folder / f"{repeat}-k{reality['time_dilation_factor']:g}")
        print(f"   k = {reality['time_dilation_factor']:g}, frozen {reality['slip']['share']:.2%}, "
              f"{reality['wall_seconds']:.0f} s", flush=True)
        return True

    def make_beside(self, case):
        """The simulation, and all live runs beside it."""
        folder = self.out / case.name / "beside"
        live = self.live(case)
        if folder.exists():
            comparison = json.loads((folder / "live-comparison.json").read_text())
            if [run["directory"] for run in comparison["live"]] == [str(path) for path in live]:
                return
            shutil.rmtree(folder)
        done = self.xoff("compare-live", *live, "--out", folder, "--quiet")
        # It says by its exit code whether the live runs kept up, which is known.
        if not (folder / "live-comparison.json").exists():
            raise Refused(f"{case.name}: no comparison\n{done.stderr}")

    # ---- Time scales

    def scales(self):
        path = self.out / "k.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def first_k(self, case):
        """What was asked for, or where the scenario kept up last, or a calibration."""
        scale = self.given.get(case.scenario) or self.scales().get(case.scenario)
        return f"{scale:g}" if scale else "auto"

    def remember(self, case, k):
        scales = self.scales() | {case.scenario: k}
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "k.json").write_text(json.dumps(scales, indent=1) + "\n")
