/* Small scenes that together have every array of every solver's checkpoint: for tests that save, load, change
 * and forge states. */
#ifndef WADI_TESTS_STATE_SCENES_H
#define WADI_TESTS_STATE_SCENES_H

typedef struct StateScene {
    const char *name, *text;
    double from;      /* s: steps are checked from this time on, as many as `steps` */
    int steps, every; /* steps between two loads */
} StateScene;

static const StateScene state_scenes[] = {
    { "points",
      "{wadi: 1, solver: points, fps: 60, frames: 999, resolution: 8, materials: {sand: {kind: sand}}, "
      "domain: {min: [0, 0, 0], max: [0.2, 0.2, 0.2], walls: {friction: 0.5, open: [x_min]}}, bodies: "
      "[{material: sand, shape: {box: {min: [0, 0, 0.05], max: [0.1, 0.2, 0.15]}}}], drains: [{shape: "
      "{box: {min: [0, 0, 0], max: [0.1, 0.1, 0.02]}}}], emitters: [{material: sand, shape: {sphere: "
      "{center: [0.15, 0.1, 0.15], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 1e-4}]}",
      0.0, 12, 1 },
    { "flip water",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, materials: {water: {kind: water, "
      "surface_tension: 0.07}, honey: {kind: water, density: 1300, viscosity: 2}}, domain: {min: [0, 0, "
      "0], max: [0.2, 0.12, 0.2], walls: {friction: 0.5, open: [x_max]}}, bodies: [{material: water, "
      "shape: {box: {min: [0, 0, 0], max: [0.1, 0.12, 0.1]}}}, {material: honey, shape: {box: {min: "
      "[0.12, 0, 0], max: [0.18, 0.08, 0.06]}}}], drains: [{shape: {box: {min: [0.1, 0.08, 0], max: "
      "[0.2, 0.12, 0.02]}}}], colliders: [{shape: {sphere: {radius: 0.03}, translate: {keys: [[0, [0.1, "
      "0.06, 0.18]], [0.3, [0.1, 0.06, 0.05]]]}}}], emitters: [{material: water, shape: {sphere: "
      "{center: [0.05, 0.06, 0.16], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 1e-3}]}",
      0.0, 12, 1 },
    { "flip sand",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, materials: {sand: {kind: sand, "
      "cohesion: 100}}, domain: {min: [0, 0, 0], max: [0.2, 0.12, 0.2], walls: {friction: 0.5}}, bodies: "
      "[{material: sand, shape: {box: {min: [0, 0, 0], max: [0.08, 0.12, 0.12]}}}], colliders: "
      "[{friction: 0.4, shape: {box: {min: [0.12, 0, 0], max: [0.13, 0.12, 0.1]}, rotate: {keys: [[0, "
      "[0, 0, 0]], [1, [0, 20, 0]]]}}}], emitters: [{material: sand, shape: {sphere: {center: [0.16, "
      "0.06, 0.16], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 1e-3}]}",
      0.0, 12, 1 },
    { "flip mix",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, materials: {sand: {kind: sand}, "
      "water: {kind: water}}, domain: {min: [0, 0, 0], max: [0.2, 0.12, 0.16], walls: {friction: 0.5}}, "
      "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.08, 0.12, 0.08]}}}, {material: "
      "water, shape: {box: {min: [0.1, 0, 0], max: [0.2, 0.12, 0.1]}}}]}",
      0.0, 12, 1 },
    { "flip zb05",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, flip: {pressure: gauss_seidel, "
      "friction: zb05, wall_friction: zb05, solids: voxels, surface: first_order, density_alpha: 0.1, "
      "pair_separation: 2, path: rk3}, materials: {sand: {kind: sand}}, domain: {min: [0, 0, 0], max: "
      "[0.2, 0.12, 0.16], walls: {friction: 0.5}}, bodies: [{material: sand, shape: {box: {min: [0, 0, "
      "0], max: [0.08, 0.12, 0.12]}}}]}",
      0.0, 12, 1 },
    { "flip published zb05",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, flip: {published: zb05}, materials: "
      "{sand: {kind: sand, cohesion: 20}}, domain: {min: [0, 0, 0], max: [0.2, 0.12, 0.16], walls: "
      "{friction: 0.5}}, bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.08, 0.12, "
      "0.12]}}}]}",
      0.0, 12, 1 },
    { "flip published a24",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, flip: {published: a24}, materials: "
      "{water: {kind: water}}, domain: {min: [0, 0, 0], max: [0.2, 0.12, 0.16], walls: {friction: 0.5}}, "
      "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.08, 0.12, 0.12]}}}]}",
      0.0, 12, 1 },
    { "flip sleep",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, materials: {sand: {kind: sand, "
      "friction_angle: 35}}, domain: {min: [0, 0, 0], max: [0.4, 0.04, 0.3], walls: {friction: 0.5}}, "
      "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.2, 0.04, 0.06]}}}], drains: "
      "[{start: 1.0, end: 1.1, shape: {box: {min: [0.2, 0, 0], max: [0.22, 0.04, 0.02]}}}], emitters: "
      "[{material: sand, shape: {sphere: {center: [0.05, 0.02, 0.2], radius: 0.02}}, velocity: [0, 0, "
      "-0.6], rate: 2e-4, start: 0.9, end: 0.95}]}",
      0.42, 60, 1 },
    { "flip pool",
      "{wadi: 1, solver: flip, fps: 60, frames: 999, cell_size: 0.02, materials: {water: {kind: water}}, "
      "domain: {min: [0, 0, 0], max: [0.32, 0.08, 0.16], walls: {friction: 0.5}}, bodies: [{material: "
      "water, shape: {box: {min: [0, 0, 0], max: [0.32, 0.08, 0.08]}}}], emitters: [{material: water, "
      "shape: {sphere: {center: [0.1, 0.04, 0.13], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 1e-4, "
      "start: 1.45, end: 1.5}]}",
      1.35, 16, 1 },
    { "sph water",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.02, materials: {water: {kind: water, "
      "surface_tension: 0.07}, honey: {kind: water, density: 1300, viscosity: 2}}, domain: {min: [0, 0, "
      "0], max: [0.2, 0.06, 0.16], walls: {friction: 0.5, open: [x_max]}}, bodies: [{material: water, "
      "shape: {box: {min: [0, 0, 0], max: [0.08, 0.06, 0.08]}}}, {material: honey, shape: {box: {min: "
      "[0.12, 0, 0], max: [0.16, 0.06, 0.05]}}}], emitters: [{material: water, shape: {sphere: {center: "
      "[0.05, 0.03, 0.13], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 1e-3}]}",
      0.0, 12, 1 },
    { "sph dry",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.02, materials: {sand: {kind: sand, "
      "cohesion: 50}}, domain: {min: [0, 0, 0], max: [0.2, 0.06, 0.16], walls: {friction: 0.5}}, bodies: "
      "[{material: sand, shape: {box: {min: [0, 0, 0], max: [0.06, 0.06, 0.1]}}}], drains: [{shape: "
      "{box: {min: [0.06, 0, 0], max: [0.1, 0.06, 0.02]}}}], colliders: [{shape: {sphere: {radius: "
      "0.02}, translate: {keys: [[0, [0.1, 0.03, 0.05]], [0.3, [0.05, 0.03, 0.05]]]}}}]}",
      0.0, 16, 1 },
    { "sph wet",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.02, materials: {sand: {kind: sand, "
      "cohesion_wet: 300}, water: {kind: water}}, domain: {min: [0, 0, 0], max: [0.18, 0.06, 0.12], "
      "walls: {friction: 0.5}}, bodies: [{material: sand, saturation: 0.4, shape: {box: {min: [0, 0, 0], "
      "max: [0.05, 0.06, 0.1]}}}, {material: water, shape: {box: {min: [0.08, 0, 0], max: [0.18, 0.06, "
      "0.06]}}}]}",
      0.0, 16, 1 },
    { "sph adaptive",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.03, sph: {adaptive: {interval: 3, wait: "
      "1, largest: 3, near: {surface: 1}}}, materials: {sand: {kind: sand, permeability: 1.5e-9}, water: "
      "{kind: water}}, domain: {min: [0, 0, 0], max: [0.3, 0.12, 0.24], walls: {friction: 0.5}}, bodies: "
      "[{material: water, shape: {box: {min: [0, 0, 0], max: [0.18, 0.12, 0.16]}}}, {material: sand, "
      "saturation: 0.2, shape: {box: {min: [0.2, 0, 0], max: [0.3, 0.12, 0.1]}}}], emitters: [{material: "
      "water, shape: {sphere: {center: [0.25, 0.06, 0.2], radius: 0.02}}, velocity: [0, 0, -0.6], rate: "
      "1e-3}]}",
      0.0, 14, 1 },
    { "sph tait",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.02, sph: {pressure: tait}, materials: "
      "{water: {kind: water}}, domain: {min: [0, 0, 0], max: [0.16, 0.06, 0.12], walls: {friction: "
      "0.5}}, bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.06, 0.06, 0.08]}}}]}",
      0.0, 12, 1 },
    { "sph published ld09",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.02, sph: {published: ld09}, materials: "
      "{sand: {kind: sand, cohesion_wet: 3000}, water: {kind: water}}, domain: {min: [0, 0, 0], max: [0.18, "
      "0.06, 0.12], walls: {friction: 0.5}}, bodies: [{material: sand, saturation: 0.4, shape: {box: {min: "
      "[0, 0, 0], max: [0.05, 0.06, 0.1]}}}, {material: water, shape: {box: {min: [0.06, 0, 0], max: [0.14, "
      "0.06, 0.06]}}}]}",
      0.02, 12, 1 },
    { "sph published t10",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.03, sph: {published: t10, adaptive: "
      "{interval: 3}}, materials: {sand: {kind: sand, cohesion: 300}, water: {kind: water, surface_tension: "
      "0.07}}, domain: {min: [0, 0, 0], max: [0.3, 0.12, 0.24], walls: {friction: 0.5}}, bodies: [{material: "
      "water, shape: {box: {min: [0, 0, 0], max: [0.18, 0.12, 0.16]}}}, {material: sand, saturation: 0.2, "
      "shape: {box: {min: [0.2, 0, 0], max: [0.3, 0.12, 0.1]}}}], emitters: [{material: water, shape: "
      "{sphere: {center: [0.25, 0.06, 0.2], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 1e-3}]}",
      0.0, 12, 1 },
    { "sph sleep",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.01, particles_per_cell: 1, materials: "
      "{sand: {kind: sand, friction_angle: 30}}, domain: {min: [0, 0, 0], max: [0.24, 0.04, 0.2], walls: "
      "{friction: 0.5}}, bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.24, 0.04, "
      "0.04]}}}], colliders: [{friction: 0.5, shape: {sphere: {center: [0.06, 0.02, 0.07], radius: "
      "0.015}, translate: {keys: [[0, [0, 0, 0]], [0.8, [0, 0, 0]], [1, [0, 0, -0.04]]]}}}]}",
      0.31, 60, 1 },
    { "sph pool",
      "{wadi: 1, solver: sph, fps: 60, frames: 999, cell_size: 0.02, materials: {water: {kind: water}}, "
      "domain: {min: [0, 0, 0], max: [0.12, 0.12, 0.3], walls: {friction: 0.5}}, bodies: [{material: "
      "water, shape: {box: {min: [0, 0, 0], max: [0.12, 0.12, 0.08]}}}], emitters: [{material: water, "
      "shape: {sphere: {center: [0.06, 0.06, 0.2], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 2e-4, "
      "start: 2.0, end: 2.05}]}",
      1.25, 60, 1 },
    { "dem full",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.02, particles_per_cell: 1, materials: "
      "{sand: {kind: sand, friction_angle: {keys: [[0, 30], [0.2, 35]]}}}, domain: {min: [0, 0, 0], max: "
      "[0.24, 0.12, 0.2], walls: {friction: 0.5, open: [x_max]}}, bodies: [{material: sand, shape: {box: "
      "{min: [0, 0, 0], max: [0.1, 0.12, 0.14]}}}], drains: [{shape: {box: {min: [0.12, 0, 0], max: "
      "[0.24, 0.06, 0.03]}}}], colliders: [{friction: 0.3, shape: {sphere: {radius: 0.03}, translate: "
      "{keys: [[0, [0.12, 0.06, 0.05]], [0.5, [0.05, 0.06, 0.05]]]}}}, {shape: {box: {min: [0.18, 0.06, "
      "0], max: [0.2, 0.12, 0.05]}}}], emitters: [{material: sand, shape: {sphere: {center: [0.17, 0.06, "
      "0.16], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 2e-3}]}",
      0.1, 150, 7 },
    { "dem moist",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.02, particles_per_cell: 1, dem: {law: "
      "tsuji}, materials: {sand: {kind: sand, cohesion_wet: 500}}, domain: {min: [0, 0, 0], max: [0.2, "
      "0.12, 0.16], walls: {friction: 0.5}}, bodies: [{material: sand, saturation: 0.3, shape: {box: "
      "{min: [0, 0, 0.01], max: [0.08, 0.12, 0.14]}}}], emitters: [{material: sand, shape: {sphere: "
      "{center: [0.16, 0.06, 0.13], radius: 0.02}}, velocity: [0, 0, -0.6], rate: 1e-3}]}",
      0.05, 100, 5 },
    { "dem tetrahedra",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.03, particles_per_cell: 1, dem: {shape: "
      "tetrahedra, surfaces: covered}, materials: {sand: {kind: sand}}, domain: {min: [0, 0, 0], max: "
      "[0.24, 0.12, 0.2], walls: {friction: 0.5}}, bodies: [{material: sand, shape: {box: {min: [0, 0, "
      "0.01], max: [0.12, 0.12, 0.16]}}}], drains: [{shape: {box: {min: [0.16, 0, 0], max: [0.24, 0.12, "
      "0.03]}}}], colliders: [{friction: 0.4, shape: {box: {center: [0, 0, 0], size: [0.06, 0.06, "
      "0.02]}, translate: {keys: [[0, [0.18, 0.06, 0.06]], [0.4, [0.1, 0.06, 0.04]]]}}}], emitters: "
      "[{material: sand, shape: {sphere: {center: [0.2, 0.06, 0.17], radius: 0.02}}, velocity: [0, 0, "
      "-0.6], rate: 2e-3}]}",
      0.05, 100, 5 },
    { "dem sleep",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.01, particles_per_cell: 1, materials: "
      "{sand: {kind: sand, friction_angle: 27}}, domain: {min: [0, 0, 0], max: [0.08, 0.06, 0.12], "
      "walls: {friction: 0.5}}, bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.08, "
      "0.06, 0.03]}}}], drains: [{start: 1.025, end: 1.03, shape: {box: {min: [0, 0, 0], max: [0.02, "
      "0.06, 0.01]}}}], emitters: [{material: sand, shape: {sphere: {center: [0.04, 0.03, 0.05], radius: "
      "0.01}}, rate: 1e-4, start: 1.04, end: 1.05}]}",
      1.0, 420, 29 },
    { "dem sleeping tetrahedra",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.02, particles_per_cell: 1, dem: {shape: "
      "tetrahedra}, materials: {sand: {kind: sand, friction_angle: 27, cohesion_wet: 100}}, domain: "
      "{min: [0, 0, 0], max: [0.1, 0.08, 0.14], walls: {friction: 0.5}}, bodies: [{material: sand, "
      "saturation: 0.2, shape: {box: {min: [0, 0, 0], max: [0.1, 0.08, 0.06]}}}], emitters: [{material: "
      "sand, shape: {sphere: {center: [0.05, 0.04, 0.09], radius: 0.01}}, rate: 5e-4, start: 1.375, end: "
      "1.385}]}",
      1.36, 260, 29 },
    { "dem surface flow",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.02, particles_per_cell: 1, dem: {mode: "
      "surface_flow}, materials: {sand: {kind: sand}}, domain: {min: [0, 0, 0], max: [0.3, 0.12, 0.3], "
      "walls: {friction: 0.5, open: [x_max]}}, bodies: [{material: sand, shape: {box: {min: [0, 0, 0], "
      "max: [0.14, 0.12, 0.14]}}}], drains: [{start: 1, shape: {box: {min: [0, 0, 0], max: [0.04, 0.04, "
      "0.03]}}}], emitters: [{material: sand, shape: {sphere: {center: [0.06, 0.06, 0.26], radius: "
      "0.02}}, velocity: [0, 0, -0.6], rate: 2e-3}]}",
      0.97, 160, 7 },
    { "dem zy10",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.02, particles_per_cell: 1, dem: {mode: "
      "surface_flow, published: zy10}, materials: {sand: {kind: sand}}, domain: {min: [0, 0, 0], max: [0.3, "
      "0.12, 0.3], "
      "walls: {friction: 0.5, open: [x_max]}}, bodies: [{material: sand, shape: {box: {min: [0, 0, 0], "
      "max: [0.14, 0.12, 0.14]}}}], drains: [{start: 0.3, shape: {box: {min: [0, 0, 0], max: [0.04, 0.04, "
      "0.03]}}}], emitters: [{material: sand, shape: {sphere: {center: [0.06, 0.06, 0.26], radius: "
      "0.02}}, velocity: [0, 0, -0.6], rate: 2e-3}]}",
      0.28, 60, 7 },
    { "dem height field",
      "{wadi: 1, solver: dem, fps: 60, frames: 999, cell_size: 0.02, particles_per_cell: 1, dem: {mode: "
      "height_field}, materials: {sand: {kind: sand}}, domain: {min: [0, 0, 0], max: [0.3, 0.2, 0.3], "
      "walls: {friction: 0.5, open: [x_max]}}, bodies: [{material: sand, shape: {box: {min: [0.1, 0.04, "
      "0], max: [0.2, 0.16, 0.16]}}}], colliders: [{shape: {box: {min: [0, 0.05, 0.06], max: [0.1, 0.15, "
      "0.1]}}}], drains: [{shape: {box: {min: [0, 0, 0], max: [0.06, 0.2, 0.02]}}}], emitters: "
      "[{material: sand, shape: {sphere: {center: [0.15, 0.1, 0.26], radius: 0.02}}, velocity: [0, 0, "
      "-0.6], rate: 2e-3}]}",
      0.0, 60, 1 },
};
enum { STATE_SCENES = sizeof state_scenes / sizeof state_scenes[0] };

#endif
