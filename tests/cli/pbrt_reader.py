"""A strict reader of scene files of pbrt-v4: directives, types and parameters that wadi writes, as the documentation of the format
(pbrt.org/fileformat-v4) has them. Anything else, and any file that is not there, is an error."""
import os
import re

NUMBERS = {"float": 1, "integer": 1, "point2": 2, "point3": 3, "vector3": 3, "normal3": 3, "rgb": 3}
STRINGS = ("string", "texture", "spectrum", "bool")
# What each implementation takes: name -> type of the parameter.
KNOWN = {
    "Camera": {"perspective": {"fov": "float", "lensradius": "float", "focaldistance": "float"}},
    "Film": {"rgb": {"xresolution": "integer", "yresolution": "integer", "filename": "string"}},
    "Sampler": {"zsobol": {"pixelsamples": "integer"}},
    "Integrator": {"volpath": {"maxdepth": "integer"}},
    "LightSource": {"infinite": {"filename": "string", "scale": "float"},
                    "distant": {"from": "point3", "to": "point3", "L": "rgb", "scale": "float"}},
    "Shape": {"sphere": {"radius": "float"}, "plymesh": {"filename": "string"}, "bilinearmesh": {"P": "point3"}},
    "Material": {"diffuse": {"reflectance": ("rgb", "texture")},
                 "coateddiffuse": {"reflectance": ("rgb", "texture"), "roughness": "float", "eta": "float"},
                 "dielectric": {"eta": "float"},
                 "thindielectric": {"eta": "float"}},
    "Medium": {"homogeneous": {"sigma_a": "rgb", "sigma_s": "rgb"}},
}
BEFORE_WORLD = {"Camera", "Film", "Sampler", "Integrator", "LookAt", "Scale"}
TOKEN = re.compile(r'\s+|#[^\n]*|("[^"\n]*")|(\[)|(\])|([^\s"\[\]#]+)')


class Reader:
    def __init__(self, path):
        self.folder = os.path.dirname(os.path.abspath(path))
        self.shapes, self.lights, self.materials, self.media, self.textures = [], [], {}, {}, set()
        self.options, self.transform, self.material, self.inside = {}, None, None, None
        self.ends = []  # of each shape
        self.end, self.active = None, "All"  # the transform at the end of the shutter, and which ones are set
        self.is_world, self.stack = False, []
        self.read(path)
        assert self.is_world and not self.stack, "WorldBegin is missing, or an attribute does not end"

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            tokens, text, at = [], file.read(), 0
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match, text[at:at + 40]
            if match.lastindex:
                tokens.append(match.group())
            at = match.end()
        self.walk(tokens)

    def walk(self, tokens):
        at = 0
        while at < len(tokens):
            directive, at = tokens[at], at + 1
            assert re.fullmatch(r"[A-Z]\w+", directive), f"expected a directive, found {directive}"
            arguments = []
            if directive == "ActiveTransform":
                arguments, at = [tokens[at]], at + 1
            while at < len(tokens) and not re.fullmatch(r"[A-Z]\w+", tokens[at]):
                arguments.append(tokens[at])
                at += 1
            assert (directive in BEFORE_WORLD) != self.is_world or directive == "WorldBegin", directive
            getattr(self, "do_" + directive)(arguments)

    def parameters(self, tokens):
        found, at = {}, 0
        while at < len(tokens):
            declaration = re.fullmatch(r'"(\w+) (\w+)"', tokens[at])
            assert declaration, tokens[at]
            kind, name = declaration.groups()
            at += 1
            values = []
            if tokens[at] == "[":
                end = tokens.index("]", at)
                values, at = tokens[at + 1:end], end + 1
            else:
                values, at = [tokens[at]], at + 1
            if kind in NUMBERS:
                values = [int(v) if kind == "integer" else float(v) for v in values]
                assert len(values) % NUMBERS[kind] == 0 and values, (kind, name, values)
                assert all(abs(v) < 1e30 for v in values), values
            else:
                assert kind in STRINGS and len(values) == 1 and values[0][0] == '"', (kind, name, values)
                values = [values[0][1:-1]]
            assert name not in found, f"{name} is given twice"
            found[name] = (kind, values)
        return found

    def take(self, what, tokens, kind=None):
        parameters = self.parameters(tokens if kind is not None else tokens[1:])
        kind = kind if kind is not None else tokens[0].strip('"')
        known = KNOWN[what][kind]
        for name, (given, values) in parameters.items():
            assert given in known[name] if isinstance(known[name], tuple) else given == known[name], (what, name, given)
            if name == "filename" and what != "Film":
                assert os.path.exists(os.path.join(self.folder, values[0])), values[0]
            if given == "texture":
                assert values[0] in self.textures, values[0]
        return kind, {name: values for name, (_, values) in parameters.items()}

    def numbers(self, tokens, count):
        assert len(tokens) == count, tokens
        return [float(token) for token in tokens]

    def option(self, what, tokens):
        assert what not in self.options, what
        self.options[what] = self.take(what, tokens)

    def do_Camera(self, tokens):
        self.option("Camera", tokens)

    def do_Film(self, tokens):
        self.option("Film", tokens)

    def do_Sampler(self, tokens):
        self.option("Sampler", tokens)

    def do_Integrator(self, tokens):
        self.option("Integrator", tokens)

    def do_LookAt(self, tokens):
        self.options["LookAt"] = self.numbers(tokens, 9)

    def do_Scale(self, tokens):
        self.numbers(tokens, 3)

    def do_Rotate(self, tokens):
        self.numbers(tokens, 4)

    def do_WorldBegin(self, tokens):
        assert not tokens and not self.is_world
        self.is_world = True

    def do_Include(self, tokens):
        self.read(os.path.join(self.folder, tokens[0].strip('"')))

    def do_AttributeBegin(self, tokens):
        assert not tokens
        self.stack.append((self.transform, self.material, self.inside, self.end, self.active))

    def do_AttributeEnd(self, tokens):
        assert not tokens
        self.transform, self.material, self.inside, self.end, self.active = self.stack.pop()

    def do_Transform(self, tokens):
        assert tokens[0] == "[" and tokens[-1] == "]"
        matrix = self.numbers(tokens[1:-1], 16)
        self.transform = matrix if self.active != "EndTime" else self.transform
        self.end = matrix if self.active != "StartTime" else self.end

    def do_ActiveTransform(self, tokens):
        assert tokens in (["All"], ["StartTime"], ["EndTime"]), tokens
        self.active = tokens[0]

    def do_LightSource(self, tokens):
        self.lights.append(self.take("LightSource", tokens))

    def do_Texture(self, tokens):
        assert tokens[1:3] == ['"spectrum"', '"checkerboard"'], tokens
        self.textures.add(tokens[0].strip('"'))

    def do_Material(self, tokens):
        self.material = self.take("Material", tokens)

    def do_MakeNamedMaterial(self, tokens):
        at = tokens.index('"string type"')
        kind = tokens[at + 1].strip('"')
        self.materials[tokens[0].strip('"')] = self.take("Material", tokens[1:at] + tokens[at + 2:], kind)

    def do_MakeNamedMedium(self, tokens):
        at = tokens.index('"string type"')
        kind = tokens[at + 1].strip('"')
        self.media[tokens[0].strip('"')] = self.take("Medium", tokens[1:at] + tokens[at + 2:], kind)

    def do_NamedMaterial(self, tokens):
        self.material = self.materials[tokens[0].strip('"')]

    def do_MediumInterface(self, tokens):
        inside, outside = (token.strip('"') for token in tokens)
        assert inside in self.media and outside == "", tokens
        self.inside = inside

    def do_Shape(self, tokens):
        assert self.material is not None
        self.shapes.append((*self.take("Shape", tokens), self.material, self.inside, self.transform))
        self.ends.append(self.end)
