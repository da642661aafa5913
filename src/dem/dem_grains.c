/* Sizes and masses of grains, and the constants of the contact law for a scene. */
#include <math.h>

#include "core/random.h"
#include "dem/bodies/dem_friction.h"
#include "dem/dem.h"
#include "dem/pack/dem_pack.h"
#include "math/cbrt.h"
#include "matter/wetting.h"
#include "matter/yield.h"

enum { SIZE_CLASSES = 255 }; /* of the column of sizes, in which 0 is none */

static const double PI = 3.14159265358979324;
static const double RUPTURE = 0.05; /* diameters: gap at which bridges break; below a list's least skin */
/* Diameters of overlap in the fastest collision that is expected. In a surface flow that is one of a few
 * grains of a jet. */
static const double IMPACT_OVERLAP = 0.1, FLOW_IMPACT_OVERLAP = 0.25;
/* Of contact_steps in a surface flow: during a collision at FLOW_SPEED sqrt(g d), and during the fastest. */
static const double FLOW_STEPS = 2.0 / 3.0, FLOW_IMPACT_STEPS = 0.4, FLOW_SPEED = 1.0;

double wadi_dem_radius_of(const WadiDem *dem, int64_t i)
{
    const uint8_t *size = wadi_particles_column(dem->context.particles, dem->size_column);
    return wadi_dem_radius_of_class(dem, size[i]);
}

double wadi_dem_radius_of_class(const WadiDem *dem, int size)
{
    const double u = (size - 0.5) / SIZE_CLASSES;
    const double spread = wadi_dem_def(dem->context.world->scene)->size_spread;
    return 0.5 * dem->diameter * (1.0 + spread * (2.0 * u - 1.0));
}

int wadi_dem_random_class(const WadiDem *dem, uint32_t grain)
{
    const uint64_t seed = (uint64_t)dem->context.world->scene->seed;
    return 1 + (int)(SIZE_CLASSES * wadi_random_unit(seed, grain, WADI_RANDOM_GRAIN));
}

static double sphere_volume(double radius)
{
    return 4.0 / 3.0 * PI * radius * radius * radius;
}

double wadi_dem_mass_of(const WadiDem *dem, int64_t i)
{
    const uint8_t material = dem->context.particles->material[i];
    return (double)dem->density[material] * sphere_volume(wadi_dem_radius_of(dem, i));
}

/* Heights between which the material of the scene lies at first, m; false: it has none. */
static bool find_heights(const WadiWorld *world, double *low, double *high)
{
    const WadiScene *scene = world->scene;
    *low = INFINITY, *high = -INFINITY;
    for (int n = 0; n < scene->body_count + scene->emitter_count; ++n) {
        const WadiShape *shape =
            n < scene->body_count ? world->body_shapes[n] : world->emitter_shapes[n - scene->body_count];
        const WadiBox box = wadi_shape_bounds(shape, 0.0);
        *low = fmin(*low, box.min.z);
        *high = fmax(*high, box.max.z);
    }
    if (scene->has_domain) {
        *low = fmax(fmin(*low, *high), scene->domain.min.z);
        *high = fmin(*high, scene->domain.max.z);
    }
    return isfinite(*low) && isfinite(*high) && *high > *low;
}

/* What a scene has its grains bear: bounds of the right order, since the stiffness depends on powers 3/2 and
 * less of them. */
typedef struct Expected {
    double depth; /* m: of sand, at most */
    double
        awake; /* m: of sand whose weight contacts bear. In a surface flow what emitters add freezes layer by
                     layer, and frozen grains bear it at any stiffness; a body is born awake. */
    double speed; /* m/s: of grains that fall */
} Expected;

static Expected expect(const WadiDem *dem)
{
    const WadiWorld *world = dem->context.world;
    const WadiScene *scene = world->scene;
    const double g = dem->diameter / (dem->unit_time * dem->unit_time);
    const WadiDemDef *def = wadi_dem_def(scene);
    const double least = 10.0 * dem->diameter;
    double low, high, fall = least, fastest = 0.0, bodies = 0.0, heaps = 0.0;
    if (find_heights(world, &low, &high)) {
        fall = fmax(fall, high - (scene->has_domain ? scene->domain.min.z : low));
    }
    for (int n = 0; n < scene->body_count; ++n) {
        const WadiBox box = wadi_shape_bounds(world->body_shapes[n], 0.0);
        const double height = box.max.z - box.min.z;
        bodies = fmax(bodies, isfinite(height) ? height : 0.0);
        fastest = fmax(fastest, wadi_norm(scene->bodies[n].velocity));
    }
    for (int n = 0; n < scene->emitter_count; ++n) {
        const double seconds = wadi_scene_frame_time(scene, scene->frames);
        const double volume = wadi_world_emitted(world, n, seconds) * world->particle_volume;
        heaps = fmax(heaps, wadi_cbrt(0.5 * volume)); /* of a cone at 35 degrees */
        fastest = fmax(fastest, wadi_norm(wadi_curve_value3(&scene->emitters[n].velocity, 0.0)));
    }
    const double depth = fmin(fmax(least, fmax(bodies, heaps)), fall);
    const double flowing = fmax(fmin(bodies, fall), (wadi_dem_flow_depth(scene) + 1.0) * dem->diameter);
    return (Expected){ .depth = depth,
                       .awake = def->mode == WADI_DEM_SURFACE_FLOW ? fmin(flowing, depth) : depth,
                       .speed = sqrt(2.0 * g * fall + fastest * fastest) };
}

void wadi_dem_set_friction(WadiDem *dem, double time)
{
    const WadiScene *scene = dem->context.world->scene;
    const WadiDemDef *def = wadi_dem_def(scene);
    for (int m = 0; m < scene->material_count; ++m) {
        const double angle = wadi_curve_value(&scene->materials[m].friction_angle, time);
        const WadiDemShape shape = (WadiDemShape)def->shape;
        /* Coulomb's law with the angle of repose, and free rolling: the published grains. */
        const bool is_published = def->published == WADI_DEM_ZY10;
        const double by_angle =
            is_published ? tan(angle * PI / 180.0) : wadi_dem_friction_of_angle(shape, angle);
        const double sliding = def->friction >= 0.0 ? def->friction : by_angle;
        const double rolling = is_published ? 0.0 : wadi_dem_rolling_of_friction(shape, sliding);
        dem->friction[m] = (float)sliding;
        dem->rolling_friction[m] = (float)(def->rolling_friction >= 0.0 ? def->rolling_friction : rolling);
    }
}

static void set_densities(WadiDem *dem)
{
    const WadiWorld *world = dem->context.world;
    const WadiScene *scene = world->scene;
    const double spread = wadi_dem_def(scene)->size_spread;
    /* Mean volume of a grain whose diameter is spread evenly. */
    const double volume = sphere_volume(0.5 * dem->diameter) * (1.0 + spread * spread);
    for (int m = 0; m < scene->material_count; ++m) {
        dem->density[m] = (float)(scene->materials[m].density * world->particle_volume / volume);
    }
}

/* Shear strength over mu q, q the pressure of equal normal forces: the power of contacts of all directions
 * that slide in pure shear, 3 mean(sqrt((x^2 + z^2)/4 - x^2 z^2)) over unit vectors. [theory 13.6] */
static const double SHEARED = 0.89;

/* Bonds of strength F in a packing bear F z phi / (pi d^2) from all sides, phi the part of the volume that
 * grains fill and z the bonds of one [Rum62]. The pull bears the tensile strength T, and presses the grains
 * together. Friction has the rest of the cohesion of Mohr and Coulomb, c - T tan(phi), by the grip. */
WadiDemBridge wadi_dem_bridge_of(const WadiDem *dem, int material, double saturation, double time)
{
    const WadiScene *scene = dem->context.world->scene;
    const WadiMaterial *m = &scene->materials[material];
    const WadiDemShape shape = (WadiDemShape)wadi_dem_def(scene)->shape;
    const double slope = tan(wadi_curve_value(&m->friction_angle, time) * PI / 180.0);
    const double cohesion =
        wadi_wet_cohesion(&m->pores, wadi_curve_value_or_zero(&m->cohesion, time), saturation);
    const double apex = cohesion / fmax(slope, 0.1);
    const double tension = fmin(apex, wadi_tension_limit(slope, cohesion, m->tensile_strength));
    const double area =
        PI * dem->diameter * dem->diameter / (wadi_dem_packed_fraction(shape) * wadi_dem_packed_bonds(shape));
    const double friction = (double)dem->friction[material];
    const double rest = (apex - tension) * slope;
    return (WadiDemBridge){ .pull = tension * area,
                            .grip = friction > 0.0 ? rest * area / (SHEARED * friction) : 0.0 };
}

/* The strongest bridge between grains of a material at its keyframes, N. */
static double strongest_of(const WadiDem *dem, int material, double saturation)
{
    const WadiMaterial *m = &dem->context.world->scene->materials[material];
    const WadiCurve *const curve[2] = { &m->cohesion, &m->friction_angle };
    double most = wadi_dem_bridge_of(dem, material, saturation, 0.0).pull;
    for (int c = 0; c < 2; ++c) {
        for (int k = 0; k < curve[c]->key_count; ++k) {
            most = fmax(most, wadi_dem_bridge_of(dem, material, saturation, curve[c]->keys[k].time).pull);
        }
    }
    return most;
}

/* The strongest bridge of the scene, N. */
static double strongest_bridge(const WadiDem *dem)
{
    const WadiScene *scene = dem->context.world->scene;
    double most = 0.0;
    for (int n = 0; n < scene->body_count; ++n) {
        most = fmax(most, strongest_of(dem, scene->bodies[n].material, scene->bodies[n].saturation));
    }
    for (int n = 0; n < scene->emitter_count; ++n) {
        most = fmax(most, strongest_of(dem, scene->emitters[n].material, scene->emitters[n].saturation));
    }
    return most;
}

void wadi_dem_set_law(WadiDem *dem)
{
    const WadiScene *scene = dem->context.world->scene;
    const WadiDemDef *def = wadi_dem_def(scene);
    const WadiDemLaw law = wadi_dem_law(scene);
    wadi_dem_set_friction(dem, 0.0);
    set_densities(dem);
    dem->has_rough_surfaces = def->rolling_friction < 0.0 && def->published != WADI_DEM_ZY10;
    const Expected expected = expect(dem);
    double density = 0.0, bulk = 0.0;
    for (int m = 0; m < scene->material_count; ++m) {
        density = fmax(density, scene->materials[m].is_unused ? 0.0 : (double)dem->density[m]);
        bulk = fmax(bulk, scene->materials[m].is_unused ? 0.0 : scene->materials[m].density);
    }
    dem->depth = expected.depth;
    const double d = dem->diameter, g = d / (dem->unit_time * dem->unit_time);
    const double small = 0.5 * d * (1.0 - def->size_spread);
    WadiDemImpact mean = { .radius = 0.25 * d,
                           .mass = 0.5 * density * sphere_volume(0.5 * d),
                           .speed = expected.speed };
    const double impact = def->mode == WADI_DEM_SURFACE_FLOW ? FLOW_IMPACT_OVERLAP : IMPACT_OVERLAP;
    const double bridge = strongest_bridge(dem), load = fmax(bulk * g * expected.awake * d * d, bridge);
    dem->rupture = bridge > 0.0 ? RUPTURE * d : 0.0;
    dem->stiffness = fmax(wadi_dem_stiffness_of_load(law, def->overlap * d, load, mean.radius),
                          wadi_dem_stiffness_of_impact(law, impact * d, &mean));
    if (def->young > 0.0) {
        /* Of two equal grains with Poisson's ratio 0.25: 4/3 E / (2 (1 - nu^2)). */
        const double hertz = def->young * 4.0 / (3.0 * 2.0 * (1.0 - 0.25 * 0.25));
        dem->stiffness = law == WADI_DEM_LINEAR ? hertz * 0.5 * d : hertz;
    }
    mean.speed = sqrt(g * d);
    dem->damping = wadi_dem_damping(law, dem->stiffness, def->restitution, &mean);
    for (int n = 0; n < WADI_DEM_DAMPINGS; ++n) {
        const double e = fmax((double)n / (WADI_DEM_DAMPINGS - 1), def->restitution);
        const WadiDemImpact wall = { .radius = 0.5 * d, .mass = 2.0 * mean.mass, .speed = mean.speed };
        dem->damping_of[n] = n > 0 && !(e > def->restitution)
                                 ? dem->damping_of[n - 1]
                                 : (float)wadi_dem_damping(law, dem->stiffness, e, &wall);
    }
    dem->slowest = (WadiDemImpact){ .radius = 0.5 * small, .mass = 0.5 * density * sphere_volume(small) };
    /* The speed at which the largest overlap is that of the deepest sand. */
    const double k = dem->stiffness * (law == WADI_DEM_LINEAR ? 1.0 : sqrt(mean.radius));
    const double rest = law == WADI_DEM_LINEAR ? load / k : pow(load / k, 2.0 / 3.0);
    dem->slowest.speed =
        law == WADI_DEM_LINEAR ? rest * sqrt(k / mean.mass) : sqrt(k * pow(rest, 2.5) / (1.25 * mean.mass));
}

double wadi_dem_contact_step(const WadiDem *dem, double speed)
{
    const WadiDemDef *def = wadi_dem_def(dem->context.world->scene);
    const bool is_flow = def->mode == WADI_DEM_SURFACE_FLOW;
    const double usual = FLOW_SPEED * dem->diameter / dem->unit_time;
    double dt = (double)INFINITY;
    /* In a surface flow first what most grains meet, then the fastest. */
    for (int n = is_flow ? 0 : 1; n < 2; ++n) {
        const double steps = def->contact_steps * (!is_flow ? 1.0 : n == 0 ? FLOW_STEPS : FLOW_IMPACT_STEPS);
        WadiDemImpact impact = dem->slowest;
        impact.speed = fmax(impact.speed, n == 0 ? fmin(speed, usual) : speed);
        dt =
            fmin(dt, wadi_dem_contact_time(wadi_dem_law(dem->context.world->scene), dem->stiffness, &impact) /
                         steps);
    }
    return dt;
}
