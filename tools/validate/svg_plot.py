"""A line plot as SVG text: axes, curves, points and a legend, in a file small enough to keep in the tree."""
import html
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 168, 28, 48
COLOURS = ["#1f6f8b", "#d1603d", "#5a8f3c", "#8a5fa8", "#b8860b", "#444444", "#c2497e"]


def ticks(low, high, is_log):
    if is_log:
        found = [m * 10.0 ** e for e in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
                 for m in (1, 2, 5)]
        found = [t for t in found if low * 0.999 <= t <= high * 1.001]
        # Over many decades the powers of ten are enough.
        return found if len(found) <= 10 else [t for t in found if abs(math.log10(t) - round(math.log10(t))) < 1e-9]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= 6:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, int(math.floor(high / step + 1e-9)) + 1)]


class Plot:
    def __init__(self, title, x_label, y_label, log=False):
        self.title, self.x_label, self.y_label, self.log = title, x_label, y_label, log
        self.curves = []

    def line(self, x, y, label, dashed=False):
        self.curves.append((list(map(float, x)), list(map(float, y)), label, "dashed" if dashed else "line"))

    def points(self, x, y, label):
        self.curves.append((list(map(float, x)), list(map(float, y)), label, "points"))

    def _range(self, axis):
        values = [v for curve in self.curves for v in curve[axis] if math.isfinite(v) and (v > 0 or not self.log)]
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if self.log:
            return low / 1.1, high * 1.1
        margin = 0.05 * (high - low) or 1.0
        return (0.0 if 0 <= low < 0.5 * high else low - margin), high + margin

    def text(self):
        ranges = [self._range(0), self._range(1)]
        change = math.log10 if self.log else float

        def place(axis, value):
            low, high = map(change, ranges[axis])
            part = (change(value) - low) / (high - low)
            return LEFT + part * (WIDTH - LEFT - RIGHT) if axis == 0 else HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
               'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
               f'<text x="{LEFT}" y="18" font-size="14">{html.escape(self.title)}</text>']
        for axis in range(2):
            for tick in ticks(*ranges[axis], self.log):
                at = place(axis, tick)
                if axis == 0:
                    out.append(f'<path d="M{at:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                               f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>')
                else:
                    out.append(f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                               f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        out.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{html.escape(self.x_label)}</text>')
        out.append(f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
                   f'text-anchor="middle">{html.escape(self.y_label)}</text>')
        for i, (x, y, label, style) in enumerate(self.curves):
            colour = COLOURS[i % len(COLOURS)]
            at = [(place(0, a), place(1, b)) for a, b in zip(x, y)
                  if math.isfinite(a) and math.isfinite(b) and (not self.log or (a > 0 and b > 0))]
            legend = TOP + 14 + 18 * i
            if style == "points":
                out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in at]
                out.append(f'<circle cx="{WIDTH - RIGHT + 20}" cy="{legend - 4}" r="4" fill="{colour}"/>')
            elif at:
                dash = ' stroke-dasharray="5 4"' if style == "dashed" else ""
                path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in at)
                out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
                out.append(f'<path d="M{WIDTH - RIGHT + 10} {legend - 4}h20" stroke="{colour}" stroke-width="2"{dash}/>')
            out.append(f'<text x="{WIDTH - RIGHT + 36}" y="{legend}">{html.escape(label)}</text>')
        out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="black"/>')
        return "\n".join(out + ["</svg>"]) + "\n"
