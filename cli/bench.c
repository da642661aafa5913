#include "bench.h"

#include <math.h>
#include <string.h>

/* A ball falls into a box of 4 m: the scene on which other programs were timed. */
#define BALL(material_, walls_)                                                                              \
    "wadi: 1\n"                                                                                              \
    "name: ball\n"                                                                                           \
    "solver: flip\n"                                                                                         \
    "domain: {min: [-2, -2, 0], max: [2, 2, 4], walls: {friction: " walls_ "}}\n"                            \
    "particles_per_cell: 8\n"                                                                                \
    "frames: 100000\n"                                                                                       \
    "fps: 24\n"                                                                                              \
    "materials: {m: {kind: " material_ "}}\n"                                                                \
    "bodies: [{material: m, shape: {sphere: {center: [0, 0, 1.4], radius: 0.8}}}]\n"

#define BOX(x_, y_, z_, body_)                                                                               \
    "wadi: 1\n"                                                                                              \
    "name: sand\n"                                                                                           \
    "solver: flip\n"                                                                                         \
    "domain: {min: [0, 0, 0], max: [" x_ ", " y_ ", " z_ "], walls: {friction: 0.6}}\n"                      \
    "particles_per_cell: 8\n"                                                                                \
    "frames: 100000\n"                                                                                       \
    "fps: 24\n"                                                                                              \
    "materials: {m: {kind: sand, friction_angle: 35}}\n"                                                     \
    "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [" body_ "]}}}]\n"

static const WadiBenchCase flip_cases[] = {
    { .name = "water-ball",
      .summary = "a ball of water drops 0.6 m into a box of 4 m and splashes",
      .scene = BALL("water", "0"),
      .resolution = 100,
      .particles = 267000 },
    { .name = "water-ball-4",
      .summary = "the same at four cells a step, as other programs take it",
      .scene = BALL("water", "0") "flip: {cfl: 4}\n",
      .resolution = 100,
      .particles = 267000 },
    { .name = "sand-ball",
      .summary = "the same ball as sand makes a pile",
      .scene = BALL("sand", "0.6"),
      .resolution = 100,
      .particles = 267000 },
    { .name = "sand-column",
      .summary = "the column of sand of ZB05 fig. 6 slumps, 100 x 60 x 60 cells",
      .scene = BOX("1", "0.6", "0.6", "0.25, 0.6, 0.36"),
      .resolution = 100,
      .particles = 432000 },
    { .name = "rest",
      .summary = "a bed of sand that lies still",
      .scene = BOX("1", "1", "0.5", "1, 1, 0.15"),
      .resolution = 60,
      .particles = 259200 },
};

#define SPH(domain_, materials_)                                                                             \
    "wadi: 1\n"                                                                                              \
    "name: sph\n"                                                                                            \
    "solver: sph\n"                                                                                          \
    "domain: {min: [0, 0, 0], max: [" domain_ "], walls: {friction: 0.5}}\n"                                 \
    "particles_per_cell: 8\n"                                                                                \
    "frames: 2400\n"                                                                                         \
    "fps: 24\n"                                                                                              \
    "materials: {" materials_ "}\n"
#define WET_SAND "m: {kind: sand, friction_angle: 33, permeability: 1e-9}, w: {kind: water}"

static const WadiBenchCase sph_cases[] = {
    { .name = "water-block",
      .summary =
          "a block of water of 49 x 49 x 49 particles falls apart: the scene on which others were timed",
      .scene =
          SPH("3, 1, 3", "w: {kind: water}") "bodies: [{material: w, jitter: 0, snap: none, "
                                             "shape: {box: {min: [0, 0, 0], max: [0.98, 0.98, 0.98]}}}]\n",
      .resolution = 75,
      .particles = 117649 },
    { .name = "sand-block",
      .summary = "a block of dry sand slumps",
      .scene = SPH(
          "1, 0.3, 0.5",
          "m: {kind: sand, friction_angle: 33}") "bodies: [{material: m, "
                                                 "shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.4]}}}]\n",
      .resolution = 50,
      .particles = 36000 },
    { .name = "wet-block",
      .summary = "water meets a block of sand and soaks it; as many particles as the duck of T10",
      .scene =
          SPH("1, 0.3, 0.5", WET_SAND) "bodies: [{material: m, "
                                       "shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.3]}}}, {material: w, "
                                       "shape: {box: {min: [0.76, 0, 0], max: [1, 0.3, 0.1]}}}]\n",
      .resolution = 50,
      .particles = 34200 },
    { .name = "pile-and-jet",
      .summary = "the pile of LD09 fig. 3, 45,000 particles of sand, and a jet of water",
      .scene = SPH("0.18, 0.1, 0.14",
                   WET_SAND) "bodies: [{material: m, shape: {box: {min: [0.06, 0, 0], "
                             "max: [0.12, 0.1, 0.1]}}}]\n"
                             "emitters: [{material: w, shape: {sphere: {center: [0.09, 0.05, "
                             "0.125], radius: 0.008}}, velocity: [0, 0, -0.7], rate: 1.4e-4}]\n",
      .resolution = 38,
      .particles = 45000 },
};

/* Grains of 1 cm at the standard size: the column on which other programs were timed. */
#define DEM(domain_, body_)                                                                                  \
    "wadi: 1\n"                                                                                              \
    "name: dem\n"                                                                                            \
    "solver: dem\n"                                                                                          \
    "domain: {min: [0, 0, 0], max: [" domain_ "], walls: {friction: 0.5}}\n"                                 \
    "particles_per_cell: 1\n"                                                                                \
    "frames: 100000\n"                                                                                       \
    "fps: 24\n"                                                                                              \
    "materials: {m: {kind: sand}}\n"                                                                         \
    "bodies: [{material: m, shape: {box: {" body_ "}}}]\n"
#define DEM_BODY "min: [0, 0, 0], max: [0.27, 0.27, 0.28]"

static const WadiBenchCase dem_cases[] = {
    { .name = "settled",
      .summary = "a box full of grains, all of them awake",
      .scene = DEM("0.27, 0.27, 0.4", DEM_BODY) "dem: {friction: 0.5, sleep: false}\n",
      .resolution = 40,
      .particles = 20412 },
    { .name = "collapse",
      .summary = "a column of grains falls apart",
      .scene = DEM("1.08, 1.08, 0.4", "min: [0.4, 0.4, 0], max: [0.67, 0.67, 0.28]") "dem: {friction: 0.5}\n",
      .resolution = 108,
      .particles = 20412 },
    { .name = "rest",
      .summary = "a bed of grains that falls asleep",
      .scene = DEM("0.5, 0.5, 0.3", "min: [0, 0, 0], max: [0.5, 0.5, 0.1]"),
      .resolution = 50,
      .particles = 25000 },
};

/* Half of the particles in a slab, half in a ball, eight per cell; at the standard size the surface's cells
 * are 1/250 of the domain: the case on which OpenVDB was timed. */
#define SLAB(method_)                                                                                        \
    "wadi: 1\n"                                                                                              \
    "name: slab\n"                                                                                           \
    "solver: points\n"                                                                                       \
    "domain: {min: [0, 0, 0], max: [1, 1, 1]}\n"                                                             \
    "particles_per_cell: 8\n"                                                                                \
    "frames: 1\n"                                                                                            \
    "materials: {m: {kind: water}}\n"                                                                        \
    "bodies:\n"                                                                                              \
    "  - {material: m, snap: none, jitter: 0.5, shape: {box: {min: [0.05, 0.05, 0.05], max: [0.95, 0.95, "   \
    "0.15]}}}\n"                                                                                             \
    "  - {material: m, snap: none, jitter: 0.5, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: 0.2}}}\n"  \
    "surface: {method: " method_ "}\n"

static const WadiBenchCase surface_cases[] = {
    { .name = "zhu-bridson",
      .summary = "a slab and a ball wrapped by the function of ZB05",
      .scene = SLAB("zhu_bridson"),
      .resolution = 68,
      .particles = 286000 },
    { .name = "anisotropic",
      .summary = "the same by kernels that follow the surface",
      .scene = SLAB("anisotropic"),
      .resolution = 68,
      .particles = 286000 },
};

const WadiBench wadi_benches[] = {
    { .name = "flip",
      .summary = "water and sand by particles and a staggered grid",
      .cases = flip_cases,
      .case_count = sizeof flip_cases / sizeof flip_cases[0] },
    { .name = "sph",
      .summary = "water and sand by smoothed particles",
      .cases = sph_cases,
      .case_count = sizeof sph_cases / sizeof sph_cases[0] },
    { .name = "dem",
      .summary = "grains in contact",
      .cases = dem_cases,
      .case_count = sizeof dem_cases / sizeof dem_cases[0] },
    { .name = "surface",
      .summary = "particles to meshes, from frame file to mesh file",
      .cases = surface_cases,
      .case_count = sizeof surface_cases / sizeof surface_cases[0] },
};
const int wadi_bench_count = sizeof wadi_benches / sizeof wadi_benches[0];

const WadiBench *wadi_bench_find(const char *name)
{
    for (int i = 0; i < wadi_bench_count; ++i) {
        if (strcmp(wadi_benches[i].name, name) == 0) {
            return &wadi_benches[i];
        }
    }
    return NULL;
}

int wadi_bench_resolution(const WadiBenchCase *bench_case, int64_t particles)
{
    if (particles <= 0) {
        return bench_case->resolution;
    }
    double ratio = cbrt((double)particles / (double)bench_case->particles);
    return (int)fmax(4.0, lrint(bench_case->resolution * ratio));
}
