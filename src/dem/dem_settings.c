/* Keys of the dem solver's settings and their defaults. */
#include "dem/dem_settings.h"

#include <math.h>
#include <stdio.h>

#include "dem/bodies/dem_friction.h"
#include "dem/pack/dem_pack.h"
#include "math/cbrt.h"

#define AT(member) .offset = offsetof(WadiDemDef, member)

static const double HEIGHT_FIELD_TILT = 1.0; /* degrees of gravity that a height field does not see */

/* diameters: the least rolling layer, which ZY10 does not print. In a cone of 107,687 grains it then has the
 * 26 % of row "Floor" of its Table 1. */
static const double ZY10_DEPTH = 2.5;

static const double PI = 3.14159265358979324;
static const double DENSEST = 0.64; /* part of their bulk volume that spheres packed at random fill at most */

static const WadiSceneChoice modes[] = {
    { "full", WADI_DEM_FULL, "every grain feels its neighbours" },
    { "surface_flow", WADI_DEM_SURFACE_FLOW, "grains where sand moves, a height field where it rests" },
    { "height_field", WADI_DEM_HEIGHT_FIELD, "a height field alone, as a preview" },
};
WADI_SCENE_CHOICES(modes);
static const WadiSceneChoice published[] = {
    { "none", WADI_DEM_PUBLISHED_NONE, "as in docs/dem.md" },
    { "zy10", WADI_DEM_ZY10,
      "Zhu and Yang 2010: a frontier by the BCRE equations in every step, viscoelastic grains with viscous "
      "friction that roll freely" },
};
WADI_SCENE_CHOICES(published);
static const WadiSceneChoice laws[] = {
    { "hertz", WADI_DEM_HERTZ, "elastic spheres with the same restitution at every speed [TTI92]" },
    { "tsuji", WADI_DEM_HERTZ, "another name of `hertz`" },
    { "viscoelastic", WADI_DEM_VISCOELASTIC,
      "elastic spheres whose restitution falls with speed [BYM05], as given at √(g d)" },
    { "linear", WADI_DEM_LINEAR, "springs and dashpots" },
};
WADI_SCENE_CHOICES(laws);

static const WadiSceneChoice shapes[] = {
    { "spheres", WADI_DEM_SPHERES, "single spheres" },
    { "pairs", WADI_DEM_PAIRS, "two spheres" },
    { "triangles", WADI_DEM_TRIANGLES, "three spheres" },
    { "tetrahedra", WADI_DEM_TETRAHEDRA, "four spheres" },
    { "cubes", WADI_DEM_CUBES, "eight spheres" },
};
WADI_SCENE_CHOICES(shapes);
static const WadiSceneChoice surfaces[] = {
    { "smooth", WADI_DEM_SMOOTH, "as they are" },
    { "covered", WADI_DEM_COVERED, "covered with spheres: rough" },
};
WADI_SCENE_CHOICES(surfaces);

static const WadiSceneField dem_fields[] = {
    { "mode", WADI_SCENE_ENUM, AT(mode), .choices = &modes_choices, .doc = "What stands for the sand." },
    { "published", WADI_SCENE_ENUM, AT(published), .choices = &published_choices,
      .doc = "A paper's method; needs `mode: surface_flow`." },
    { "law", WADI_SCENE_ENUM, AT(law), .choices = &laws_choices,
      .doc = "The normal force between grains in contact." },
    { "shape", WADI_SCENE_ENUM, AT(shape), .choices = &shapes_choices,
      .doc = "Grains are rigid bodies of touching spheres; those of several interlock." },
    { "young", WADI_SCENE_NUMBER, AT(young), .unit = "Pa", .minimum = 1, .maximum = 1e13, .fallback = { -1 },
      .fallback_text = "by `overlap`",
      .doc = "Young's modulus of the grains; the number of steps grows as its root." },
    { "overlap", WADI_SCENE_NUMBER, AT(overlap), .unit = "diameters", .minimum = 1e-5, .maximum = 0.1,
      .fallback = { 0.01 }, .doc = "Overlap of grains under the deepest sand, which sets their stiffness." },
    { "restitution", WADI_SCENE_NUMBER, AT(restitution), .flags = WADI_SCENE_ABOVE_MIN, .minimum = 0,
      .maximum = 1, .fallback = { 0.3 }, .doc = "Fraction of the speed after two grains bounced." },
    { "friction", WADI_SCENE_NUMBER, AT(friction), .minimum = 0, .maximum = 10, .fallback = { -1 },
      .fallback_text = "so that slopes have the material's `friction_angle`",
      .doc = "Coulomb friction coefficient between grains; solids have their own." },
    { "rolling_friction", WADI_SCENE_NUMBER, AT(rolling_friction), .minimum = 0, .maximum = 10,
      .fallback = { -1 },
      .fallback_text = "1 for spheres, else as `friction`; on solids the solid's friction",
      .doc = "Resistance to rolling over the normal force, at the radius of a sphere." },
    { "grain_size", WADI_SCENE_NUMBER, AT(grain_size), .flags = WADI_SCENE_ABOVE_MIN, .unit = "m",
      .minimum = 0, .maximum = 1e3, .fallback = { -1 }, .fallback_text = "by the spacing",
      .doc = "Mean diameter of the grains, or of spheres of their volume. By default 1.03 spacings for "
             "spheres." },
    { "size_spread", WADI_SCENE_NUMBER, AT(size_spread), .minimum = 0, .maximum = 0.5, .fallback = { 0.1 },
      .doc = "Spread of diameters to both sides of their mean." },
    { "contact_steps", WADI_SCENE_NUMBER, AT(contact_steps), .minimum = 5, .maximum = 1000,
      .fallback = { 15 }, .doc = "Steps during the shortest contact." },
    { "surfaces", WADI_SCENE_ENUM, AT(surfaces), .choices = &surfaces_choices,
      .doc = "What grains meet at colliders; the sides of the domain are always smooth." },
    { "sleep", WADI_SCENE_BOOL, AT(sleep), .fallback = { 1 },
      .doc = "Grains at rest are not simulated until disturbed." },
    { "column_width", WADI_SCENE_NUMBER, AT(column_width), .unit = "diameters", .minimum = 1, .maximum = 100,
      .fallback = { 2 }, .doc = "Width of the columns of a height field." },
    { "flow_depth", WADI_SCENE_NUMBER, AT(flow_depth), .unit = "diameters", .minimum = 1, .maximum = 1000,
      .fallback = { 2 },
      .doc = "In `surface_flow`, grains nearer to the surface freeze only where nothing moves." },
};
const WadiSceneObject wadi_dem_settings = {
    .name = "dem",
    .doc = "Settings of the solver `dem`. The spacing is the cell size over the particles along a cell.",
    WADI_SCENE_FIELDS(dem_fields),
    .size = sizeof(WadiDemDef),
    .example = "{restitution: 0.5, friction: 0.5}",
};

/* Mean diameter of grains that fill a part of the bulk volume, m. */
static double size_of_fraction(const WadiScene *scene, double fraction)
{
    const double spacing = scene->cell_size / scene->particles_per_axis;
    const double spread = wadi_dem_def(scene)->size_spread;
    /* Mean volume of a grain whose diameter is spread evenly: pi/6 d^3 (1 + spread^2). */
    return spacing * wadi_cbrt(fraction * 6.0 / (PI * (1.0 + spread * spread)));
}

double wadi_dem_grain_size(const WadiScene *scene)
{
    const WadiDemDef *def = wadi_dem_def(scene);
    return def->grain_size > 0.0
               ? def->grain_size
               : size_of_fraction(scene, wadi_dem_packed_fraction((WadiDemShape)def->shape));
}

WadiDemLaw wadi_dem_law(const WadiScene *scene)
{
    const WadiDemDef *def = wadi_dem_def(scene);
    return def->published == WADI_DEM_ZY10 ? WADI_DEM_VISCOELASTIC : (WadiDemLaw)def->law;
}

double wadi_dem_flow_depth(const WadiScene *scene)
{
    const WadiDemDef *def = wadi_dem_def(scene);
    return def->published == WADI_DEM_ZY10 ? ZY10_DEPTH : def->flow_depth;
}

int wadi_dem_spheres_each(const WadiScene *scene)
{
    const WadiDemDef *def = wadi_dem_def(scene);
    return def->mode == WADI_DEM_HEIGHT_FIELD ? 1 : wadi_dem_member_count((WadiDemShape)def->shape);
}

static const char *check_size(const WadiScene *scene, char *text, size_t size)
{
    const double largest = wadi_dem_grain_size(scene) * (1.0 + wadi_dem_def(scene)->size_spread);
    const double spacing = scene->cell_size / scene->particles_per_axis;
    const WadiVec3 box = wadi_box_size(scene->domain);
    const double narrowest = fmin(box.x, fmin(box.y, box.z));
    const char *key = wadi_dem_def(scene)->grain_size > 0.0 ? "dem.grain_size" : "cell_size";
    if (scene->has_domain && !(largest < narrowest)) {
        snprintf(text, size, "grains of up to %g m do not fit into the domain, which is %g m wide; make %s",
                 largest, narrowest, "the grains smaller or the domain larger");
        return key;
    }
    const double most = size_of_fraction(scene, DENSEST);
    if (!(wadi_dem_grain_size(scene) <= most)) {
        snprintf(text, size,
                 "grains of %g m do not fit at the spacing of %g m: packed at random they fill at most %g of "
                 "their bulk volume; give at most %g m, a larger cell_size or a lower resolution",
                 wadi_dem_grain_size(scene), spacing, DENSEST, most);
        return "dem.grain_size";
    }
    return NULL;
}

/* Degrees between the columns of a height field, which stand along z, and gravity at a keyframe; 0 without
 * gravity. */
static double largest_tilt(const WadiCurve *gravity)
{
    double most = 0.0;
    for (int k = 0; k < (gravity->key_count > 0 ? gravity->key_count : 1); ++k) {
        const double *g = gravity->key_count > 0 ? gravity->keys[k].value : gravity->constant.value;
        most = fmax(most, atan2(sqrt(g[0] * g[0] + g[1] * g[1]), -g[2]) * 180.0 / 3.14159265358979324);
    }
    return most;
}

/* A key that ZY10's method would not obey. */
static const char *check_published(const WadiDemDef *def, char *text, size_t size)
{
    if (def->mode != WADI_DEM_SURFACE_FLOW) {
        snprintf(text, size, "ZY10 is a method of grains above a height field; add `mode: surface_flow`");
        return "dem.published";
    }
    WadiDemDef defaults = { 0 };
    wadi_scene_set_defaults(&wadi_dem_settings, &defaults);
    const bool has_law = def->law != defaults.law && def->law != WADI_DEM_VISCOELASTIC;
    if (has_law || def->flow_depth != defaults.flow_depth) {
        snprintf(text, size, "'zy10' has its own '%s'; leave that key out, or this one",
                 has_law ? "law" : "flow_depth");
        return "dem.published";
    }
    return NULL;
}

const char *wadi_dem_check_settings(const WadiScene *scene, char *text, size_t size)
{
    const bool is_zy10 = wadi_dem_def(scene)->published == WADI_DEM_ZY10;
    const char *wrong = is_zy10 ? check_published(wadi_dem_def(scene), text, size) : NULL;
    if (wrong != NULL) {
        return wrong;
    }
    if (wadi_dem_def(scene)->mode != WADI_DEM_FULL && !scene->has_domain) {
        snprintf(text, size, "a height field needs a `domain`: its columns fill it");
        return "dem.mode";
    }
    const double tilt = largest_tilt(&scene->gravity);
    if (wadi_dem_def(scene)->mode == WADI_DEM_HEIGHT_FIELD && tilt > HEIGHT_FIELD_TILT) {
        snprintf(text, size,
                 "the columns of a height field stand along z, and gravity points up to %.3g degrees away "
                 "from -z; "
                 "tilt the solids and keep gravity along -z, or use dem.mode full",
                 tilt);
        return "gravity";
    }
    for (int m = 0; m < scene->material_count; ++m) {
        if (scene->materials[m].kind == WADI_MATERIAL_WATER && !scene->materials[m].is_unused) {
            snprintf(text, size, "`dem` has dry grains only, and %s is water; use flip or sph",
                     scene->materials[m].name);
            return "solver";
        }
    }
    return check_size(scene, text, size);
}

/* The value of a curve at its keyframes that is farthest from the middle of a range. */
static double farthest(const WadiCurve *curve, double middle)
{
    double found = wadi_curve_value(curve, 0.0);
    for (int k = 0; k < curve->key_count; ++k) {
        const double value = curve->keys[k].value[0];
        found = fabs(value - middle) > fabs(found - middle) ? value : found;
    }
    return found;
}

/* Angles that grains are not known to have; a height field has them all. */
void wadi_dem_warn(const WadiScene *scene, const WadiLog *log)
{
    const WadiDemDef *def = wadi_dem_def(scene);
    if (def->mode == WADI_DEM_HEIGHT_FIELD || def->friction >= 0.0) {
        return;
    }
    double least, most;
    wadi_dem_angles_of((WadiDemShape)def->shape, &least, &most);
    for (int m = 0; m < scene->material_count; ++m) {
        const WadiMaterial *material = &scene->materials[m];
        const double angle = farthest(&material->friction_angle, 0.5 * (least + most));
        const char *where = material->where_friction_angle.text;
        if (!material->is_unused && (angle < least || angle > most)) {
            wadi_log(
                log, WADI_LOG_WARNING,
                "%s: materials.%s.friction_angle is %.4g degrees: slopes of %s are known to have their angle "
                "from %g to %g degrees only; choose an angle between them, another dem.shape, or give "
                "dem.friction and dem.rolling_friction",
                where[0] != '\0' ? where : scene->path, material->name, angle, shapes[def->shape].name, least,
                most);
        }
    }
}
