"""Numbers out of summaries (run.json), and how they are written."""
import math

# Student's t, 95 % on both sides, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}

# Narrower intervals, as parts of the mean, are not spelled out.
NARROW = 1e-3


def measure(run, name):
    """The value of a [[measure]]; infinite if it never came."""
    found = next(entry for entry in run["measures"] if entry["name"] == name)
    return math.inf if found["never"] else found["value"]


def curve(run, name):
    """[(x, y)] of a [[measure]] that is a curve."""
    found = next(entry for entry in run["measures"] if entry["name"] == name)
    return list(zip(found["curve"]["x"], found["curve"]["y"]))


def mean(values):
    return sum(values) / len(values)


def half_width(values):
    """Of the 95 % confidence interval of their mean; none for a single one."""
    if len(values) < 2:
        return None
    middle = mean(values)
    deviation = math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))
    return STUDENT[len(values) - 1] * deviation / math.sqrt(len(values))


def brief(value):
    """Three digits."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "never"
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(digits, 0)}f}" if digits < 5 else f"{value:.2e}"


def estimate(values):
    """Mean and half width, as `12.3 ± 0.4`."""
    middle, width = mean(values), half_width(values)
    if width is None:
        return brief(middle)
    return f"{brief(middle)} ± " + (brief(width) if width >= NARROW * abs(middle) else "<0.1 %")


def distance(live, simulated):
    """Live less simulated in per cent of simulated."""
    if not simulated or math.isinf(simulated) or math.isinf(live):
        return "0 %" if live == simulated else "-"
    return f"{(live - simulated) / simulated * 100:+.1f} %"


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
