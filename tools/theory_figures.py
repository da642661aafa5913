#!/usr/bin/env python3
"""The drawings of docs/theory.md: tools/theory_figures.py [FOLDER]. Curves are those of the equations in the text."""
import math
import sys
from pathlib import Path

INK, FAINT, WATER, SAND, SOLID = "#333", "#bbb", "#9cc9dd", "#e3c48b", "#b8b2a8"
BLUE, RED, GREEN = "#1f6f8b", "#d1603d", "#5a8f3c"


class Figure:
    """An SVG picture of 640 x 260 units."""

    def __init__(self, width=640, height=260):
        self.size = width, height
        self.parts = []

    def add(self, part):
        self.parts.append(part)

    def line(self, points, color=INK, width=2, dash="", fill="none", close=False):
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if close else "")
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.add(f'<path d="{path}" fill="{fill}" stroke="{color}" stroke-width="{width}"{dashed}/>')

    def area(self, points, fill, color="none"):
        self.line(points, color, 1.5, "", fill, True)

    def box(self, x, y, width, height, fill="none", color=INK):
        self.area([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], fill, color)

    def disc(self, x, y, radius, fill=INK, color="none"):
        self.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{color}" stroke-width="1.5"/>')

    def arrow(self, x, y, dx, dy, color=INK):
        length = math.hypot(dx, dy)
        ex, ey = dx / length, dy / length
        tip = x + dx, y + dy
        back = tip[0] - 9 * ex, tip[1] - 9 * ey
        self.line([(x, y), back], color)
        self.area([tip, (back[0] - 4 * ey, back[1] + 4 * ex), (back[0] + 4 * ey, back[1] - 4 * ex)], color)

    def text(self, x, y, words, color=INK, anchor="middle", size=14):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}" font-size="{size}">{words}</text>')

    def svg(self):
        width, height = self.size
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
                f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


class Axes:
    """A plot inside a figure: x and y ranges at a rectangle."""

    def __init__(self, figure, rectangle, x_range, y_range, x_name, y_name):
        self.figure, self.rectangle, self.x_range, self.y_range = figure, rectangle, x_range, y_range
        x, y, width, height = rectangle
        figure.line([(x, y), (x, y + height), (x + width, y + height)], INK, 1.5)
        figure.text(x + width / 2, y + height + 36, x_name)
        figure.text(x - 8, y - 8, y_name, anchor="start")

    def at(self, x, y):
        left, top, width, height = self.rectangle
        return (left + width * (x - self.x_range[0]) / (self.x_range[1] - self.x_range[0]),
                top + height * (self.y_range[1] - y) / (self.y_range[1] - self.y_range[0]))

    def ticks(self, values):
        for value in values:
            x, y = self.at(value, self.y_range[0])
            self.figure.line([(x, y), (x, y + 5)], INK, 1.5)
            self.figure.text(x, y + 19, f"{value:g}", size=12)

    def curve(self, function, color, begin=None, end=None, dash=""):
        begin = self.x_range[0] if begin is None else begin
        end = self.x_range[1] if end is None else end
        points = [begin + (end - begin) * i / 160 for i in range(161)]
        self.figure.line([self.at(x, function(x)) for x in points], color, 2, dash)


def cell():
    figure = Figure()
    figure.box(220, 30, 200, 200, "#f4f8fa")
    figure.disc(320, 130, 5)
    figure.text(320, 112, "p, density, label")
    for x, name in ((220, "u(i, k)"), (420, "u(i+1, k)")):
        figure.arrow(x, 130, 50, 0, BLUE)
        figure.text(x + 26, 150, name, BLUE)
    for y, name in ((230, "w(i, k)"), (30, "w(i, k+1)")):
        figure.arrow(320, y, 0, -26 if y == 30 else -40, RED)
        figure.text(330, y - 12 if y == 30 else y - 18, name, RED, "start")
    figure.line([(220, 246), (420, 246)], INK, 1)
    figure.text(436, 251, "h", anchor="start")
    return figure


def hat():
    figure = Figure()
    axes = Axes(figure, (60, 40, 520, 160), (-2, 3), (0, 1.15), "x in cells: faces at whole numbers", "weight")
    axes.ticks(range(-2, 4))
    for face, color in ((0, BLUE), (1, RED)):
        axes.curve(lambda x, f=face: max(0.0, 1 - abs(x - f)), color)
    x = 0.3
    for weight, color, name in ((1 - x, BLUE, "0.7"), (x, RED, "0.3")):
        px, py = axes.at(x, weight)
        figure.disc(px, py, 5, color)
        figure.text(px + 10, py + (4 if weight > 0.5 else -6), name, color, "start")
    figure.line([axes.at(x, 0), axes.at(x, 1)], FAINT, 1.5, "4 4")
    figure.text(axes.at(x, 1.06)[0], axes.at(x, 1.06)[1], "a particle at 0.3")
    return figure


def cut():
    figure = Figure()
    figure.box(220, 30, 200, 200, "#eef6fa")
    figure.area([(220, 230), (420, 230), (420, 110), (220, 190)], SOLID)
    figure.box(220, 30, 200, 200)
    figure.line([(220, 30), (220, 190)], BLUE, 5)
    figure.line([(420, 30), (420, 110)], BLUE, 5)
    figure.line([(220, 30), (420, 30)], BLUE, 5)
    figure.text(206, 115, "w = 0.8", BLUE, "end")
    figure.text(434, 75, "w = 0.4", BLUE, "start")
    figure.text(320, 22, "w = 1", BLUE)
    figure.text(320, 250, "w = 0")
    figure.text(320, 205, "solid")
    figure.text(310, 90, "fluid")
    figure.arrow(330, 146, 22, 55 - 110, RED)
    figure.text(362, 104, "A", RED)
    return figure


def ghost():
    figure = Figure()
    axes = Axes(figure, (80, 40, 480, 160), (0, 4), (-0.3, 3.2), "height in cells", "pressure")
    surface = 2.8
    x, top = axes.at(surface, 3.1)
    figure.area([axes.at(0, -0.3), axes.at(surface, -0.3), (x, top), axes.at(0, 3.1)], "#eef6fa")
    axes.curve(lambda z: surface - z, BLUE, 0, surface)
    axes.curve(lambda z: 3.5 - z, RED, 0, 3.5, "6 4")
    for centre in (0.5, 1.5, 2.5, 3.5):
        figure.disc(*axes.at(centre, 0), 4, INK if centre < surface else "white", INK)
    figure.line([(x, top), axes.at(surface, -0.3)], FAINT, 1.5, "4 4")
    figure.text(x, top - 6, "surface")
    figure.text(axes.at(0.1, 0.6)[0], axes.at(0.1, 0.6)[1], "p = 0 at the surface", BLUE, "start", 13)
    figure.text(axes.at(1.2, 2.6)[0], axes.at(1.2, 2.6)[1], "p = 0 at the centre of the air cell", RED, "start", 13)
    figure.line([axes.at(2.5, -0.14), axes.at(surface, -0.14)], GREEN, 4)
    figure.text(axes.at(2.92, -0.22)[0], axes.at(2.92, -0.22)[1], "θ h", GREEN)
    return figure


def aggregates():
    figure = Figure()
    for left, has_wall in ((90, False), (360, True)):
        for i in range(4):
            for k in range(4):
                block = (i // 2, k // 2)
                color = ["#cfe3ee", "#f3e2c7", "#dcebd0", "#f0d4ca"][block[0] + 2 * block[1]]
                if has_wall and i == 1:
                    color = ["#b5b5d6", "", "#d6b5c8", ""][2 * block[1]]
                figure.box(left + 48 * i, 24 + 48 * k, 48, 48, color, "#888")
        for i in (0, 2, 4):
            figure.line([(left + 48 * i, 24), (left + 48 * i, 216)])
            figure.line([(left, 24 + 48 * i), (left + 192, 24 + 48 * i)])
        if has_wall:
            figure.line([(left + 48, 18), (left + 48, 222)], RED, 6)
        figure.text(left + 96, 244, "six coarse unknowns, beside a thin wall" if has_wall else "four coarse unknowns")
    return figure


def yield_laws():
    figure = Figure()
    axes = Axes(figure, (70, 40, 330, 165), (10, 45), (0, 50), "friction angle φ, degrees", "angle of repose atan k, degrees")
    axes.ticks((10, 20, 30, 40))
    sine = lambda a: math.sin(math.radians(a))
    slope = lambda k: math.degrees(math.atan(k))
    laws = [("tan", INK, lambda a: a), ("triaxial", GREEN, lambda a: slope(2 * math.sqrt(3) * sine(a) / (3 - sine(a)))),
            ("zb05", RED, lambda a: slope(math.sqrt(1.5) * sine(a))), ("plane", BLUE, lambda a: slope(sine(a))),
            ("ZB05 eq. 1", FAINT, lambda a: slope(sine(a) / math.sqrt(3)))]
    for index, (name, color, law) in enumerate(laws):
        axes.curve(law, color)
        figure.line([(425, 60 + 26 * index), (450, 60 + 26 * index)], color, 3)
        figure.text(458, 65 + 26 * index, f"{name}: {law(35):.1f}° at 35°", anchor="start", size=13)
    return figure


def effective():
    figure = Figure()
    figure.area([(60, 50), (240, 50), (240, 120), (60, 120)], WATER)
    figure.area([(60, 120), (240, 120), (240, 220), (60, 220)], SAND)
    figure.text(150, 90, "water")
    figure.text(150, 175, "wet sand")
    axes = Axes(figure, (330, 50, 260, 170), (0, 3.2), (0, 1.7), "pressure", "height")
    contact = 1.0
    total = lambda z: (1.7 - contact) + 1.9 * (contact - z) if z < contact else 1.7 - z
    pore = lambda z: 1.7 - z
    heights = [1.7 * i / 100 for i in range(101)]
    figure.area([axes.at(pore(z), z) for z in heights if z <= contact] +
                [axes.at(total(z), z) for z in reversed(heights) if z <= contact], "#f3e2c7")
    figure.line([axes.at(total(z), z) for z in heights], INK)
    figure.line([axes.at(pore(z), z) for z in heights], BLUE, 2, "6 4")
    figure.text(axes.at(1.4, 0.9)[0], axes.at(1.4, 0.9)[1], "total pressure p", anchor="start")
    figure.text(axes.at(0.05, 0.15)[0], axes.at(0.05, 0.15)[1], "pore pressure u", BLUE, "start")
    figure.text(axes.at(2.05, 0.15)[0], axes.at(2.05, 0.15)[1], "p − u", RED)
    return figure


def sleep():
    figure = Figure()
    heights = [1, 2, 3, 4, 4, 3, 3, 2, 1]
    awake_from = [1, 2, 3, 4, 2, 2, 3, 2, 1]
    for i, height in enumerate(heights):
        for k in range(height):
            is_awake = k >= awake_from[i]
            figure.box(95 + 50 * i, 190 - 46 * k, 50, 46, "#f0b79f" if is_awake else SAND, "#888")
            figure.text(120 + 50 * i, 218 - 46 * k, "awake" if is_awake else "zzz", size=12)
    figure.line([(60, 236), (580, 236)], INK, 3)
    return figure


def surface():
    figure = Figure(640, 220)
    centres = [(1.0 * i, 0.0) for i in range(9)]
    scale, left, middle = 62, 72, 120
    for x, _ in centres:
        figure.disc(left + scale * x, middle, 31, "#e8f2f7", "#9cc9dd")
        figure.disc(left + scale * x, middle, 3)

    def distance(x, y):
        weights = [max(0.0, 1 - ((x - a) ** 2 + (y - b) ** 2) / 4.0) ** 3 for a, b in centres]
        total = sum(weights)
        if total <= 0:
            return 1.0
        mean = sum(w * a for w, (a, _) in zip(weights, centres)) / total
        return math.hypot(x - mean, y) - 0.5

    for side in (-1, 1):
        points = []
        for i in range(-49, 850):
            x, y = i / 100.0, 1.2
            while y > 0 and distance(x, y) > 0:
                y -= 0.004
            if y > 0:
                points.append((left + scale * x, middle + side * scale * y))
        figure.line(points, RED, 2.5)
    figure.text(320, 40, "φ = 0 through a row of particles: flatter than the union of balls", RED)
    figure.text(320, 195, "balls of radius r")
    return figure


def kernel():
    figure = Figure()
    axes = Axes(figure, (60, 40, 330, 165), (0, 2), (-0.1, 1.05), "distance in spacings", "W and −W′, over their largest values")
    axes.ticks((0, 0.5, 1, 1.5, 2))

    def spline(r):
        q = r / 2
        return 6 * (q ** 3 - q ** 2) + 1 if q <= 0.5 else 2 * max(0.0, 1 - q) ** 3

    axes.curve(spline, BLUE)
    axes.curve(lambda r: max(0.0, spline(r) - spline(1.85)), RED, dash="6 4")
    axes.curve(lambda r: (spline(r - 1e-4) - spline(r + 1e-4)) / 2e-4, GREEN, 0.001)
    names = ((BLUE, "cubic spline, support 2"), (RED, "W − W(1.85)"), (GREEN, "−dW/dr"))
    for index, (color, name) in enumerate(names):
        figure.line([(430, 70 + 28 * index), (460, 70 + 28 * index)], color, 3)
        figure.text(470, 75 + 28 * index, name, anchor="start")
    return figure


def caustic():
    figure = Figure()
    wave = lambda x: 80 + 14 * math.sin((x - 60) / 40)
    xs = list(range(40, 601, 4))
    figure.area([(x, wave(x)) for x in xs] + [(600, 230), (40, 230)], "#dceef6")
    figure.line([(x, wave(x)) for x in xs], BLUE)
    figure.line([(40, 230), (600, 230)], INK, 4)
    for x in range(50, 598, 9):
        slope = 14 / 40 * math.cos((x - 60) / 40)
        angle = math.atan(slope)
        bent = angle - math.asin(math.sin(angle) / 1.333)
        y = wave(x)
        figure.line([(x, 20), (x, y)], "#e0b030", 1)
        figure.line([(x, y), (x - (230 - y) * math.tan(bent) * 3, 230)], "#e0b030", 1)
    figure.text(46, 16, "sunlight", anchor="start")
    figure.text(320, 251, "photons gather in caustics on the bed (bending drawn three times as strong)", size=13)
    return figure


def contact():
    figure = Figure()
    figure.disc(130, 130, 75, "#f3e2c7", "#888")
    figure.disc(262, 130, 75, "#f3e2c7", "#888")
    figure.line([(187, 30), (187, 90)], FAINT, 1.5)
    figure.line([(205, 30), (205, 90)], FAINT, 1.5)
    figure.text(196, 24, "overlap ξ")
    figure.arrow(196, 130, 60, 0, RED)
    figure.text(240, 122, "f_n", RED)
    figure.arrow(196, 130, 0, -52, BLUE)
    figure.text(204, 100, "f_t ≤ μ f_n", BLUE, "start")
    axes = Axes(figure, (410, 50, 190, 150), (0, 1), (-0.05, 1.2), "ξ", "f_n in a collision")
    x, v, points, dt = 0.0, 1.0, [], 0.002
    while x >= 0 and len(points) < 4000:
        force = max(0.0, x ** 1.5 + 0.5 * x ** 0.25 * v)
        points.append((x, force))
        v -= dt * force
        x += dt * v
    wide, high = max(p for p, _ in points), max(f for _, f in points)
    figure.line([axes.at(p / wide * 0.95, f / high) for p, f in points], RED)
    return figure


def foam():
    figure = Figure()
    figure.area([(40, 120), (600, 120), (600, 235), (40, 235)], "#dceef6")
    figure.line([(40, 120), (600, 120)], BLUE)
    for i in range(9):
        x = 60 + 34 * i
        figure.disc(x, 40 + 37 * ((i * 7) % 5) / 4.0, 3, BLUE)
        figure.disc(x, 116 + 10 * ((i * 3) % 4) / 3.0, 7, "white", "#999")
        figure.disc(x, 165 + 55 * ((i * 5) % 6) / 5.0, 5, "white", BLUE)
    for y, words in ((62, "spray, f below 0.2: falls"), (146, "foam: moves with the surface"),
                     (200, "bubbles, f above 0.8: rise")):
        figure.text(380, y, words, anchor="start")
    return figure


FIGURES = {"cell": cell, "hat": hat, "cut": cut, "ghost": ghost, "aggregates": aggregates, "yield": yield_laws,
           "effective": effective, "sleep": sleep, "surface": surface, "kernel": kernel, "caustic": caustic,
           "contact": contact, "foam": foam}


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/theory")
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        (folder / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
