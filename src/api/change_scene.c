/* Other scenes for a running simulation: the present one with a key replaced. */
#include <string.h>

#include "api/change.h"
#include "io/scene/scene_parse.h"

WadiStatus wadi_change_derive(const WadiSim *sim, const WadiScene *from, const char *assignment,
                              WadiScene **scene, WadiError *error)
{
    WadiSceneDef def = wadi_default_scene_def();
    def.path = from->path;
    def.folder = from->folder;
    def.text = from->source;
    def.sets = &assignment;
    def.set_count = assignment != NULL ? 1 : 0;
    WADI_TRY(wadi_scene_parse_record(scene, &def, error)); /* files are those of the present scene */
    (*scene)->content_hash = sim->scene->content_hash;
    /* Materials that a change brought in. */
    for (int m = 0; m < (*scene)->material_count && m < sim->scene->material_count; ++m) {
        (*scene)->materials[m].is_unused = (*scene)->materials[m].is_unused && sim->born[m] == 0;
    }
    return WADI_OK;
}

static bool is_same_point(WadiVec3 a, WadiVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

const char *wadi_change_unfit_key(const WadiScene *a, const WadiScene *b)
{
    const bool has_same_box = a->has_domain == b->has_domain && a->closed_sides == b->closed_sides &&
                              (!a->has_domain || (is_same_point(a->domain.min, b->domain.min) &&
                                                  is_same_point(a->domain.max, b->domain.max)));
    for (int m = 0; m < a->material_count && a->material_count == b->material_count; ++m) {
        if (a->materials[m].kind != b->materials[m].kind ||
            strcmp(a->materials[m].name, b->materials[m].name) != 0) {
            return "the kind or name of a material";
        }
    }
    return a->solver_type != b->solver_type                 ? "solver"
           : a->cell_size != b->cell_size                   ? "cell_size"
           : a->particles_per_axis != b->particles_per_axis ? "particles_per_cell"
           : a->fps != b->fps                               ? "fps"
           : a->seed != b->seed                             ? "seed"
           : a->has_texture != b->has_texture               ? "texture"
           : a->material_count != b->material_count         ? "the number of materials"
           : a->emitter_count != b->emitter_count           ? "the number of emitters"
           : !has_same_box                                  ? "the box of the domain"
                                                            : NULL;
}

WadiStatus wadi_change_take_scene(WadiSim *sim, WadiScene *scene, WadiError *error)
{
    WadiChanges *changes = NULL;
    const char *unfit = wadi_change_unfit_key(sim->scene, scene);
    WadiStatus status = WADI_OK;
    if (unfit != NULL) {
        status =
            wadi_fail(error, WADI_ERR_ARGUMENT,
                      "%s cannot change while the simulation runs; start it again with the new value", unfit);
    }
    if (status == WADI_OK) {
        status = wadi_changes_get(sim, &changes, error);
    }
    if (status == WADI_OK) {
        wadi_world_share_meshes(sim->world, scene);
        status = wadi_sim_change_scene(sim, scene, error);
        wadi_world_share_meshes(NULL, scene);
    }
    if (status != WADI_OK) {
        wadi_scene_free(scene);
        return status;
    }
    wadi_scene_free(changes->scene);
    changes->scene = scene;
    return WADI_OK;
}
