/* Views of particles for programs: every attribute of a frame, without a copy where a column has it. */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

static const WadiViewType view_types[] = {
    [WADI_TYPE_U8] = WADI_VIEW_U8,   [WADI_TYPE_U32] = WADI_VIEW_U32, [WADI_TYPE_U64] = WADI_VIEW_U64,
    [WADI_TYPE_I32] = WADI_VIEW_I32, [WADI_TYPE_F32] = WADI_VIEW_F32, [WADI_TYPE_F64] = WADI_VIEW_F64,
};

static WadiView view_of(const WadiParticles *particles, WadiType type, int components)
{
    return (WadiView){ .type = view_types[type],
                       .components = components,
                       .count = (size_t)particles->count,
                       .stride = wadi_type_size(type) };
}

static void append_name(char known[1024], const char *name)
{
    const size_t used = strlen(known);
    snprintf(known + used, 1024 - used, "%s%s", used > 0 ? ", " : "", name);
}

WadiStatus wadi_sim_view(const WadiSim *sim, const char *name, WadiView *view, WadiError *error)
{
    *view = (WadiView){ 0 };
    WADI_TRY(wadi_sim_check_idle(sim, error));
    const WadiParticles *p = &sim->particles;
    if (sim->world == NULL) { /* a change could not be taken back */
        return wadi_sim_check_state(sim, error);
    }
    char known[1024] = "";
    WadiParticleArray arrays[WADI_COLUMN_MAX];
    const int count = wadi_particles_arrays(p, arrays);
    for (int i = 0; i < count; ++i) {
        const WadiParticleArray *array = &arrays[i];
        if (!array->is_in_frames) {
            continue;
        }
        if (strcmp(array->name, name) == 0) {
            *view = view_of(p, p->column[array->first].type, array->components);
            for (int c = 0; c < array->components; ++c) {
                view->data[c] = p->column[array->first + c].data;
            }
            return WADI_OK;
        }
        append_name(known, array->name);
    }
    wadi_state_clear(sim->viewed);
    WADI_TRY(wadi_sim_material_attributes(sim, sim->viewed, error));
    for (int i = 0; i < sim->viewed->count; ++i) {
        const WadiStateArray *array = &sim->viewed->array[i];
        if (strcmp(array->name, name) == 0) {
            *view = view_of(p, array->type, 1);
            view->data[0] = array->data;
            return WADI_OK;
        }
        append_name(known, array->name);
    }
    return wadi_fail(error, WADI_ERR_ARGUMENT, "no quantity '%s'; there are %s", name, known);
}
