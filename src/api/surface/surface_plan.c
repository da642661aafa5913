#include "api/surface/surface_plan.h"

#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "io/run/run_files.h"

enum {
    SURFACE_VERSION = 3, /* increased when the same settings give another mesh */
    FORMATS_ALL = WADI_SURFACE_PLY | WADI_SURFACE_OBJ | WADI_SURFACE_VDB
};

static WadiStatus choose_parts(WadiSurfacePlan *plan, const WadiSurfaceDef *def, WadiError *error)
{
    const WadiScene *scene = plan->view.scene;
    if (scene->surface.materials == WADI_SURFACE_MATERIALS_JOINED) {
        if (def->material != NULL) {
            return wadi_fail(error, WADI_ERR_ARGUMENT,
                             "material '%s' alone, but surface.materials is joined; take separate",
                             def->material);
        }
        plan->part[plan->part_count++] = (WadiSurfacePart){ "joined", -1 };
        return WADI_OK;
    }
    WadiText known = { 0 };
    for (int m = 0; m < scene->material_count; ++m) {
        const char *name = scene->materials[m].name;
        if (def->material == NULL || strcmp(def->material, name) == 0) {
            plan->part[plan->part_count++] = (WadiSurfacePart){ name, m };
        }
        wadi_text_printf(&known, "%s%s", m > 0 ? ", " : "", name);
    }
    WadiStatus status = wadi_text_status(&known, error);
    if (status == WADI_OK && plan->part_count == 0) {
        status = wadi_fail(error, WADI_ERR_ARGUMENT, "no material '%s' in %s (known: %s)", def->material,
                           plan->view.run, wadi_text_cstr(&known));
    }
    wadi_text_free(&known);
    return status;
}

static uint64_t hash_number(uint64_t hash, double value)
{
    value += 0.0; /* maps -0 to 0 */
    return wadi_hash_bytes(hash, &value, sizeof value);
}

static uint64_t hash_settings(const WadiSurfacePlan *plan)
{
    const WadiFieldDef *f = &plan->frame.field;
    const double numbers[] = { SURFACE_VERSION,
                               f->method,
                               f->cell,
                               f->support,
                               f->radius,
                               f->offset,
                               f->volume_slack[0],
                               f->volume_slack[1],
                               f->is_concave_fixed,
                               f->smoothing,
                               f->lowering,
                               f->flatten,
                               f->flatten_unit,
                               f->is_clipped,
                               f->clip.min.x,
                               f->clip.min.y,
                               f->clip.min.z,
                               f->clip.max.x,
                               f->clip.max.y,
                               f->clip.max.z,
                               plan->frame.mesh_smoothing,
                               plan->frame.are_walls_open,
                               plan->subframe,
                               plan->view.summary.fps };
    uint64_t hash = wadi_hash_bytes(0, wadi_version(), strlen(wadi_version()));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        hash = hash_number(hash, numbers[i]);
    }
    return plan->is_y_up ? hash_number(hash, 1.0) : hash;
}

uint64_t wadi_surface_plan_key(const WadiSurfacePlan *plan, int part, const WadiFrameLayout *frame)
{
    uint64_t key = hash_number(plan->settings_hash, plan->part[part].material);
    key = hash_number(hash_number(key, frame->header.frame), frame->header.time);
    for (int i = 0; i < frame->array_count; ++i) {
        key = wadi_hash_bytes(key, frame->array[i].name, strlen(frame->array[i].name));
        key = wadi_hash_combine(key, frame->array[i].checksum);
    }
    return key;
}

void wadi_surface_plan_path(const WadiSurfacePlan *plan, int part, int frame, WadiSurfaceFormat format,
                            char *path, size_t size)
{
    char middle[16] = "";
    int thousandths = (int)lrint(1000.0 * plan->subframe);
    if (thousandths > 0) {
        snprintf(middle, sizeof middle, ".s%03d", thousandths);
    }
    snprintf(path, size, "%s/%s%s.%04d.%s", plan->folder, plan->part[part].name, middle, frame,
             wadi_surface_format_name(format));
}

static WadiStatus check_def(const WadiSurfaceDef *def, WadiError *error)
{
    if (!(def->subframe >= 0.0 && def->subframe <= 1.0)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "a subframe of %g; expected 0 to 1", def->subframe);
    }
    if (def->formats == 0 || (def->formats & ~(unsigned)FORMATS_ALL) != 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "no format, or one that is not known");
    }
    if (def->is_y_up && (def->formats & WADI_SURFACE_VDB) != 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a level set lies on its grid and is not turned: take z up for vdb");
    }
    for (unsigned f = WADI_SURFACE_PLY; f <= WADI_SURFACE_VDB; f <<= 1) {
        if ((def->formats & f) != 0) {
            WADI_TRY(wadi_surface_format_check((WadiSurfaceFormat)f, error));
        }
    }
    return WADI_OK;
}

static WadiStatus set_folder(WadiSurfacePlan *plan, const WadiSurfaceDef *def, WadiError *error)
{
    int length = def->folder != NULL
                     ? snprintf(plan->folder, sizeof plan->folder, "%s", def->folder)
                     : snprintf(plan->folder, sizeof plan->folder, "%s/surface", plan->view.run);
    if (length < 1 || length > WADI_RUN_PATH_MAX) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the folder is %s",
                         length < 1 ? "empty" : "too long");
    }
    return WADI_OK;
}

static WadiStatus fill(WadiSurfacePlan *plan, const WadiSurfaceDef *def, WadiError *error)
{
    WADI_TRY(set_folder(plan, def, error));
    WADI_TRY(choose_parts(plan, def, error));
    plan->frame = wadi_surface_frame_def(plan->view.scene);
    plan->settings_hash = hash_settings(plan);
    return WADI_OK;
}

WadiStatus wadi_surface_plan_open(WadiSurfacePlan *plan, const char *run, const WadiSurfaceDef *def,
                                  WadiError *error)
{
    WADI_TRY(check_def(def, error));
    *plan = (WadiSurfacePlan){ .formats = def->formats,
                               .is_y_up = def->is_y_up,
                               /* The resolution of the file names. */
                               .subframe = rint(1000.0 * def->subframe) / 1000.0 };
    if (def->is_shared ? def->is_forced : def->is_waiting) {
        return wadi_fail(
            error, WADI_ERR_ARGUMENT,
            "is_waiting is for is_shared, and files that are shared cannot be forced: each process "
            "would make them again");
    }
    static const char *const keys[] = { "surface", NULL };
    WADI_TRY(wadi_run_view_open(&plan->view, run,
                                &(WadiRunViewDef){ .sets = def->sets,
                                                   .set_count = def->set_count,
                                                   .keys = keys,
                                                   .example = "surface.radius=1",
                                                   .first = def->first_frame,
                                                   .last = def->last_frame,
                                                   .is_shared = def->is_shared,
                                                   .is_waiting = def->is_waiting,
                                                   .stop = def->stop,
                                                   .log = def->log },
                                error));
    WadiStatus status = fill(plan, def, error);
    if (status != WADI_OK) {
        wadi_surface_plan_close(plan);
    }
    return status;
}

void wadi_surface_plan_close(WadiSurfacePlan *plan)
{
    wadi_run_view_close(&plan->view);
}
