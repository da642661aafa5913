# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials to start from: what bodies and emitters are made of, in the units of the scene language."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Tuple


@dataclass(frozen=True)
class Preset:
    """`values` are properties of an object by name; `look` goes into the scene as it is; `shader` names the material."""

    label: str
    description: str
    solver: str
    shader: str
    values: Dict[str, float]
    look: Dict[str, Any] = field(default_factory=dict)
    kind: str = "sand"


PRESETS: Dict[str, Preset] = {
    "water": Preset("Water", "Clear water that splashes and foams", "flip", "water",
                    {"density": 1000.0, "viscosity": 0.0}, kind="water"),
    "honey": Preset("Honey", "A thick liquid that coils and spreads slowly", "flip", "honey",
                    {"density": 1400.0, "viscosity": 10.0}, kind="water"),
    "dry_sand": Preset("Dry Sand", "Sand that runs until it rests at its friction angle", "flip", "sand",
                       {"density": 1600.0, "friction_angle": 35.0, "cohesion": 0.0, "grain_size": 0.0004}),
    "moist_sand": Preset("Moist Sand", "Sand that holds together, for sculptures and castles", "flip", "sand",
                         {"density": 1800.0, "friction_angle": 36.0, "cohesion": 1000.0, "grain_size": 0.0004,
                          "wetness": 0.45}),
    "mud": Preset("Mud", "Soft wet soil that slumps and flows slowly", "flip", "mud",
                  {"density": 1900.0, "friction_angle": 8.0, "cohesion": 60.0, "viscosity": 20.0, "grain_size": 0.0004,
                   "wetness": 0.9}, {"preset": "soil"}),
    "gravel": Preset("Gravel", "Stones of one to a few centimetres, each a body of its own", "dem", "gravel",
                     {"density": 1600.0, "friction_angle": 40.0, "grain_size": 0.02}, {"preset": "gravel"}),
}
# Which properties of an object describe a material of a kind.
NUMBERS: Dict[str, Tuple[str, ...]] = {
    "sand": ("density", "friction_angle", "cohesion", "viscosity", "grain_size"),
    "water": ("density", "viscosity", "surface_tension"),
}
KEYFRAMED = ("friction_angle", "cohesion", "viscosity", "surface_tension")


def items() -> List[Tuple[str, str, str]]:
    """For an EnumProperty."""
    return [(name, preset.label, preset.description) for name, preset in PRESETS.items()]


def values_of(name: str) -> Dict[str, float]:
    """All numbers of a material, those that the preset does not mention as wadi has them by default."""
    return {"density": 1600.0, "friction_angle": 35.0, "cohesion": 0.0, "viscosity": 0.0, "surface_tension": 0.0,
            "grain_size": 0.0004, "wetness": 0.0, "saturation": 0.0, **PRESETS[name].values}


def numbers_for(name: str, solver: str) -> Tuple[str, ...]:
    """The numbers of a material that a solver uses: with `sph` the water in the pores holds sand together and makes it flow."""
    numbers = NUMBERS[PRESETS[name].kind]
    if PRESETS[name].kind == "sand" and solver == "sph":
        return tuple(number for number in numbers if number not in ("cohesion", "viscosity"))
    if PRESETS[name].kind == "sand" and solver == "dem":
        return tuple(number for number in numbers if number != "viscosity")
    return numbers
