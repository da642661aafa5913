"""Rules of Open Job Description 2023-09 for job templates, without extensions: its page 'Template Schemas' as a JSON Schema, and
what a schema cannot say. Returns texts about what is wrong."""
import re

import jsonschema

IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
NO_CONTROL = r"^[^\x00-\x1f\x7f-\x9f]+$"


def thing(required, **properties):
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def texts(most, **more):
    return {"type": "array", "items": {"type": "string", **more}, "minItems": 1, "maxItems": most}


DESCRIPTION = {"type": "string", "minLength": 1, "maxLength": 2048}
NAME = {"type": "string", "pattern": IDENTIFIER}
VALUE = {"type": "string", "maxLength": 1024}
COMMON = {"name": NAME, "description": DESCRIPTION, "default": VALUE, "minLength": {"type": "integer"},
          "maxLength": {"type": "integer"}, "allowedValues": texts(2 ** 31, maxLength=1024)}
PARAMETER = {"oneOf": [
    thing(["name", "type"], **{**COMMON, "type": {"const": "STRING"}}),
    thing(["name", "type"], **{**COMMON, "type": {"const": "PATH"}, "objectType": {"enum": ["FILE", "DIRECTORY"]},
                               "dataFlow": {"enum": ["NONE", "IN", "OUT", "INOUT"]}})]}
ACTION = thing(["command"], command={"type": "string", "minLength": 1}, args={"type": "array", "items": {"type": "string"}},
               timeout={"type": "integer", "minimum": 1})
AMOUNT = {**thing(["name"], name={"type": "string", "maxLength": 100,
                                  "pattern": r"^([A-Za-z_]\w*:)?amount(\.[A-Za-z_]\w*)+$"},
                  min={"type": "number", "minimum": 0}, max={"type": "number", "exclusiveMinimum": 0}),
          "anyOf": [{"required": ["min"]}, {"required": ["max"]}]}
TASK_PARAMETER = {"oneOf": [
    thing(["name", "type", "range"], name=NAME, type={"const": "STRING"}, range=texts(1024, minLength=1, maxLength=1024)),
    thing(["name", "type", "range"], name=NAME, type={"const": "INT"},
          range={"oneOf": [{"type": "string"}, {"type": "array", "minItems": 1, "maxItems": 1024}]})]}
STEP = thing(
    ["name", "script"],
    name={"type": "string", "minLength": 1, "maxLength": 64, "pattern": NO_CONTROL},
    description=DESCRIPTION,
    dependencies={"type": "array", "minItems": 1, "items": thing(["dependsOn"], dependsOn={"type": "string"})},
    hostRequirements={**thing([], amounts={"type": "array", "items": AMOUNT, "maxItems": 50}), "minProperties": 1},
    parameterSpace=thing(["taskParameterDefinitions"], combination={"type": "string", "minLength": 1, "maxLength": 1280},
                         taskParameterDefinitions={"type": "array", "items": TASK_PARAMETER, "minItems": 1, "maxItems": 16}),
    script=thing(["actions"], actions=thing(["onRun"], onRun=ACTION)))
TEMPLATE = thing(
    ["specificationVersion", "name", "steps"],
    **{"$schema": {"type": "string"}},
    specificationVersion={"const": "jobtemplate-2023-09"},
    name={"type": "string", "minLength": 1, "maxLength": 128, "pattern": NO_CONTROL},
    description=DESCRIPTION,
    parameterDefinitions={"type": "array", "items": PARAMETER, "minItems": 1, "maxItems": 50},
    steps={"type": "array", "items": STEP, "minItems": 1})


def repeated(names):
    return sorted({name for name in names if names.count(name) > 1})


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_of(inner)


def problems(template):
    found = [f"{list(error.absolute_path)}: {error.message}" for error in
             jsonschema.Draft202012Validator(TEMPLATE).iter_errors(template)]
    if found:
        return found
    parameters = [parameter["name"] for parameter in template.get("parameterDefinitions", [])]
    steps = [step["name"] for step in template["steps"]]
    found += [f"{name}: twice" for name in repeated(parameters) + repeated(steps)]
    for i, step in enumerate(template["steps"]):
        space = step.get("parameterSpace", {}).get("taskParameterDefinitions", [])
        found += [f"{step['name']}: depends on {other['dependsOn']}" for other in step.get("dependencies", [])
                  if other["dependsOn"] not in steps[:i]]
        known = {f"{scope}.{name}" for name in parameters for scope in ("Param", "RawParam")}
        known |= {f"Task.{scope}.{one['name']}" for one in space for scope in ("Param", "RawParam")} | {"Session.WorkingDirectory"}
        for text in strings_of(step["script"]):
            references = re.findall(r"\{\{(.*?)\}\}", text)
            found += [f"{step['name']}: unknown {name}" for name in references if name.strip() not in known]
            if "{{" in re.sub(r"\{\{.*?\}\}", "", text):
                found.append(f"{step['name']}: {text!r} has a reference without an end")
    return found
