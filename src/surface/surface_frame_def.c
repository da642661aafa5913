/* Surface settings from the scene's settings. */
#include <math.h>

#include "geom/solids.h"
#include "surface/surface_frame.h"
#include "world/solver.h"

/* Simulation cell over surface cell: 250 cells for 100 [ZB05 secs. 5, 6]. */
static const double refinement = 2.5;
static const double flatten_radius = 5.0; /* spacings */

WadiSurfaceFrameDef wadi_surface_frame_def(const WadiScene *scene)
{
    const WadiSurfaceSettings *s = &scene->surface;
    const bool is_smooth = s->method == WADI_SURFACE_KEY_MLS; /* without passes over the grid */
    const int passes = is_smooth ? 0 : 1;
    const double averaged = is_smooth ? 0.0 : flatten_radius;
    WadiSurfaceFrameDef def = {
        .field = { .method = (WadiSurfaceMethod)s->method,
                   .cell = s->cell_size > 0.0 ? s->cell_size : scene->cell_size / refinement,
                   .support = s->reach,
                   .radius = s->radius,
                   .offset = isfinite(s->offset) ? s->offset : wadi_field_volume_offset(s->reach, s->radius),
                   .is_concave_fixed = s->fix_concave,
                   .smoothing = s->smoothing == WADI_SURFACE_AUTO_PASSES ? passes : s->smoothing,
                   .lowering = s->lowering,
                   .flatten = isfinite(s->flatten) ? s->flatten : averaged,
                   .is_clipped = scene->has_domain && scene->closed_sides != 0 },
        .mesh_smoothing = s->mesh_smoothing,
        .are_walls_open = s->walls == WADI_SURFACE_WALLS_OPEN,
    };
    /* An explicit offset or another radius fixes the surface's position. */
    bool is_volume_matched = s->method == WADI_SURFACE_KEY_ANISOTROPIC || is_smooth ||
                             (s->method == WADI_SURFACE_KEY_ZHU_BRIDSON && s->radius == 1.0);
    if (!isfinite(s->offset) && is_volume_matched) {
        wadi_field_volume_slack(s->reach, def.field.volume_slack);
    }
    /* Bumps scale with the solver's cells; the default spacing is half a cell. */
    if (scene->solver_type->has_grid) {
        def.field.flatten_unit = 0.5 * scene->cell_size;
    }
    if (def.field.is_clipped) {
        def.field.clip = wadi_box_closed_sides(scene->domain, scene->closed_sides);
        def.field.is_mirrored = true;
    }
    return def;
}
