#!/usr/bin/env python3
"""Is docs/scene.schema.json a valid schema that accepts the good scenes and refuses the bad ones it can see?

Exit code 77: python3-jsonschema or python3-yaml is missing.
"""
import json
import pathlib
import sys

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What a JSON schema cannot express: order of numbers, files, references, duplicates, and what YAML itself refuses.
BEYOND_A_SCHEMA = {
    "bodies_empty", "body_material_typo", "body_saturation_water", "body_sculpture_water", "box_moving_reversed", "box_other_times", "box_reversed", "cell_size_too_fine",
    "cone_no_radius", "cylinder_no_length", "dem_height_field_gravity", "difference_one", "domain_flat", "domain_reversed", "drain_end_before_start",
    "duplicate_key", "duplicate_material", "emitter_end_before_start", "emitter_material_unknown",
    "force_end_before_start", "half_space_normal_zero", "heightmap_missing_file", "keys_equal", "keys_nested",
    "keys_not_rising", "keys_out_of_range", "keys_time_nan", "keys_value_wrong", "materials_empty", "mesh_absolute_missing",
    "material_file_names", "material_name_of_a_solid", "mesh_missing_file", "resolution_too_fine", "sequence_missing",
    "sequence_reversed", "torus_axis_zero", "flip_for_points", "flip_one_particle",
    "flip_published", "flip_published_transfer", "flip_published_viscosity", "flip_published_yield",
    "dem_published_depth", "dem_published_law", "surface_radius_beyond_reach",
    "sph_published_adaptive", "sph_published_pressure", "sph_published_range", "sph_published_yield",
    "fps_nan",      # passes every comparison
    "keys_repeat",  # YAML 1.1 reads yes as true
    "deep_union",   # allowed, but too deep for the parser
    "tag", "merge_of_a_number",
}


def main():
    schema = json.loads((ROOT / "docs/scene.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0
    for path in sorted((ROOT / "tests/golden/good_scenes").iterdir()):
        text = path.read_text()
        scene = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
        for error in validator.iter_errors(scene):
            print(f"{path.name} is refused: {error.json_path}: {error.message}")
            failures += 1
    refused = 0
    for path in sorted((ROOT / "tests/golden/bad_scenes").glob("*.yaml")):
        if path.stat().st_size > 20000 or path.stem in BEYOND_A_SCHEMA or path.stem.startswith(("alias", "deep")):
            continue
        try:
            scene = yaml.safe_load(path.read_text())
        except (yaml.YAMLError, RecursionError, UnicodeDecodeError, TypeError, ValueError):
            continue
        if validator.is_valid(scene):
            print(f"{path.name} is accepted")
            failures += 1
        else:
            refused += 1
    print(f"{refused} bad scenes refused, {failures} failures")
    return 1 if failures or refused < 90 else 0


sys.exit(main())
