"""Curves in panels, as SVG."""
from xml.sax.saxutils import escape

# Those of crates/results/src/figures/colour.rs.
COLOURS = ["#0072B2", "#D55E00"]
DASHES = ["", "7 4"]
WIDTH, HEIGHT, COLUMNS = 420, 250, 2
LEFT, TOP, RIGHT, BOTTOM = 58, 34, 12, 42
TITLE = 52


def ticks(most, count=4):
    """Round steps up to `most`."""
    step = 1.0
    while most / step > count * 10:
        step *= 10
    step = next(step * factor for factor in (1, 2, 5, 10, 20) if most / (step * factor) <= count)
    return [step * i for i in range(int(most / step) + 1)]


def text(x, y, words, anchor="start", size=12, colour="#222222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
            f"{escape(words)}</text>")


def line(points, colour, width=1.0, dash=""):
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline fill="none" stroke="{colour}" stroke-width="{width}"{dashes} points="{places}"/>'


def panel(at, title, curves, until, highest, axis):
    """One panel with its grid at a place."""
    x0, y0 = at[0] + LEFT, at[1] + TOP
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x, y):
        return x0 + x / until * width, y0 + height - min(y, highest) / highest * height

    parts = [text(x0, y0 - 8, title, size=13)]
    for x in ticks(until):
        parts += [line([place(x, 0), place(x, highest)], "#E4E4E4"),
                  text(place(x, 0)[0], y0 + height + 16, f"{x:g}", "middle", 11)]
    for y in ticks(highest):
        parts += [line([place(0, y), place(until, y)], "#E4E4E4"),
                  text(x0 - 6, place(0, y)[1] + 4, f"{y:g}", "end", 11)]
    parts.append(text(x0 + width / 2, y0 + height + 32, axis, "middle", 11))
    for curve, colour, dash in zip(curves, COLOURS, DASHES):
        parts.append(line([place(x, y) for x, y in curve if x <= until], colour, 1.4, dash))
    return parts


def draw(title, names, panels, until, axis):
    """`panels`: [(title, [curve of each name])], a curve being [(x, y)]."""
    rows = -(-len(panels) // COLUMNS)
    width, height = WIDTH * COLUMNS, TITLE + HEIGHT * rows
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" font-family="DejaVu Sans, sans-serif" width="{width}" '
             f'height="{height}" viewBox="0 0 {width} {height}">',
             f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>', text(LEFT, 20, title, size=15)]
    for number, (name, colour, dash) in enumerate(zip(names, COLOURS, DASHES)):
        x = LEFT + 130 * number
        parts += [line([(x, 38), (x + 28, 38)], colour, 2, dash), text(x + 36, 42, name)]
    for number, (name, curves) in enumerate(panels):
        row, column = divmod(number, COLUMNS)
        highest = max(y for curve in curves for x, y in curve if x <= until) * 1.05 or 1.0
        parts += panel((column * WIDTH, TITLE + row * HEIGHT), name, curves, until, highest, axis)
    return "\n".join([*parts, "</svg>", ""])
