/* Exports whole scenes: what wadi_render would draw of a frame, with the same camera and light, as files for
 * another program. Frames are processed one by one; each stage uses all threads. */
#include <stdio.h>
#include <string.h>

#include "api/export/export_scenes.h"
#include "core/alloc.h"
#include "core/hash.h"
#include "export/export_blender.h"
#include "export/export_pbrt.h"
#include "export/export_pov.h"
#include "export/export_sky.h"
#include "io/files/files.h"

enum { EXPORT_VERSION = 3 }; /* increased when the same settings give other files */

/* Functions and facts for one target program. */
typedef struct Target {
    const char *frame_suffix;                          /* NAME.0001SUFFIX */
    bool is_editable;                                  /* the user may edit the shared file: docs/export.md */
    void (*shared_name)(const char *name, char *file); /* WADI_EXPORT_FILE_SIZE bytes */
    WadiStatus (*write_shared)(const WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                               WadiError *error);
    WadiStatus (*write_frame)(WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                              WadiError *error);
} Target;

static void pov_shared_name(const char *name, char *file)
{
    snprintf(file, WADI_EXPORT_FILE_SIZE, "%s.inc", name);
}

static WadiStatus write_pov_shared(const WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                                   WadiError *error)
{
    char sky[WADI_EXPORT_FILE_SIZE], sky_path[WADI_PATH_SIZE];
    snprintf(sky, sizeof sky, "%s.sky.hdr", frame->name);
    snprintf(sky_path, sizeof sky_path, "%s/%s", e->job->folder, sky);
    WADI_TRY(wadi_export_begin_file(frame, sky_path, error));
    WADI_TRY(wadi_export_sky_hdr(sky_path, &frame->light, exp2(frame->exposure), error));
    return wadi_export_pov_shared(frame, path, sky, error);
}

static WadiStatus write_pov_frame(WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                                  WadiError *error)
{
    char shared[WADI_EXPORT_FILE_SIZE];
    pov_shared_name(frame->name, shared);
    return wadi_export_pov_frame(frame, e->job->folder, path, shared, &e->maker.frame_scene.arena, error);
}

static void pbrt_shared_name(const char *name, char *file)
{
    snprintf(file, WADI_EXPORT_FILE_SIZE, "%s.materials.pbrt", name);
}

static WadiStatus write_pbrt_shared(const WadiSceneExporter *e, const WadiExportFrame *frame,
                                    const char *path, WadiError *error)
{
    char sky[WADI_PATH_SIZE];
    snprintf(sky, sizeof sky, "%s/%s.sky.pfm", e->job->folder, frame->name);
    WADI_TRY(wadi_export_begin_file(frame, sky, error));
    WADI_TRY(wadi_export_sky_pfm(sky, &frame->light, 1.0, error));
    return wadi_export_pbrt_shared(frame, path, error);
}

static WadiStatus write_pbrt_frame(WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                                   WadiError *error)
{
    char shared[WADI_EXPORT_FILE_SIZE], sky[WADI_EXPORT_FILE_SIZE];
    pbrt_shared_name(frame->name, shared);
    snprintf(sky, sizeof sky, "%s.sky.pfm", frame->name);
    return wadi_export_pbrt_frame(frame, e->job->folder, path, shared, sky, &e->maker.frame_scene.arena,
                                  error);
}

static void blender_shared_name(const char *name, char *file)
{
    (void)name;
    snprintf(file, WADI_EXPORT_FILE_SIZE, "scene.json");
}

static WadiStatus write_blender_shared(const WadiSceneExporter *e, const WadiExportFrame *frame,
                                       const char *path, WadiError *error)
{
    char script[WADI_PATH_SIZE], sky[WADI_EXPORT_FILE_SIZE], sky_path[WADI_PATH_SIZE];
    snprintf(sky, sizeof sky, "%s.sky.hdr", frame->name);
    snprintf(sky_path, sizeof sky_path, "%s/%s", e->job->folder, sky);
    snprintf(script, sizeof script, "%s/load.py", e->job->folder);
    WADI_TRY(wadi_export_begin_file(frame, sky_path, error));
    WADI_TRY(wadi_export_sky_hdr(sky_path, &frame->light, 1.0, error));
    WADI_TRY(wadi_export_begin_file(frame, script, error));
    WADI_TRY(wadi_file_write(script, wadi_blender_script, wadi_blender_script_size, error));
    return wadi_export_blender_shared(frame, path, sky, e->plan.view.frame_count, error);
}

static WadiStatus write_blender_frame(WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                                      WadiError *error)
{
    return wadi_export_blender_frame(frame, e->job->folder, &e->maker.frame, path,
                                     &e->maker.frame_scene.arena, error);
}

static const Target targets[] = {
    [WADI_EXPORT_POV] = { ".pov", true, pov_shared_name, write_pov_shared, write_pov_frame },
    [WADI_EXPORT_PBRT] = { ".pbrt", true, pbrt_shared_name, write_pbrt_shared, write_pbrt_frame },
    [WADI_EXPORT_BLENDER] = { ".json", false, blender_shared_name, write_blender_shared,
                              write_blender_frame },
    [WADI_EXPORT_USD] = { ".usdc", false, wadi_usd_target_shared_name, wadi_usd_target_write_shared,
                          wadi_usd_target_write_frame },
};

WadiStatus wadi_scene_exporter_key(const WadiSceneExporter *e, const WadiFrameLayout *layout, uint64_t *key,
                                   WadiError *error)
{
    WADI_TRY(wadi_picture_key(&e->plan, layout, key, error));
    *key = wadi_hash_combine(e->settings, *key);
    return WADI_OK;
}

bool wadi_scene_exporter_has(const WadiSceneExporter *e, const char *path, uint64_t key, bool is_editable)
{
    return !e->job->def->is_forced && wadi_output_index_has(&e->job->outputs, path, key, is_editable);
}

static void shared_path(const WadiSceneExporter *e, char path[WADI_PATH_SIZE])
{
    char name[WADI_EXPORT_FILE_SIZE];
    targets[e->job->def->target].shared_name(e->plan.view.summary.name, name);
    snprintf(path, WADI_PATH_SIZE, "%s/%s", e->job->folder, name);
}

/* Writes the shared files, once per call. */
static WadiStatus write_shared(WadiSceneExporter *e, const WadiExportFrame *frame, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    if (e->has_shared) {
        return WADI_OK;
    }
    shared_path(e, path);
    WadiFileNames made = { 0 };
    WadiExportFrame shared = *frame;
    shared.key = e->shared_key;
    shared.made = &made;
    WadiStatus status = wadi_export_begin_file(&shared, path, error);
    if (status == WADI_OK) {
        status = targets[e->job->def->target].write_shared(e, &shared, path, error);
    }
    if (status == WADI_OK) {
        status = wadi_output_index_add(&e->job->outputs, &made, shared.key, error);
    }
    wadi_file_names_free(&made);
    e->has_shared = status == WADI_OK;
    return status;
}

WadiStatus wadi_scene_exporter_read(WadiSceneExporter *e, WadiFrameHeader *header, WadiExportFrame *frame,
                                    WadiError *error)
{
    const WadiRenderPlan *plan = &e->plan;
    WADI_TRY(wadi_picture_read(&e->maker, plan, header->frame, header, error));
    WadiFrameSceneDef def = plan->frame_scene;
    def.secondary = &e->maker.secondary;
    def.fine_grains = &e->maker.grains;
    WADI_TRY(wadi_frame_scene_build(&e->maker.frame_scene, &def, &e->maker.frame, header->time, error));
    wadi_export_close_gaps(&e->maker.frame_scene);
    *frame =
        (WadiExportFrame){ .scene = plan->view.scene,
                           .frame_scene = &e->maker.frame_scene,
                           .camera = wadi_frame_scene_camera(plan->view.scene, plan->shot.box, header->time),
                           .light = e->light,
                           .exposure = plan->shot.exposure,
                           .name = plan->view.summary.name,
                           .frame = header->frame,
                           .time = header->time,
                           .fps = header->fps,
                           .is_y_up = e->job->def->is_y_up,
                           .outputs = &e->job->outputs,
                           .settings_key = e->settings,
                           .shared = &e->shared,
                           .is_forced = e->job->def->is_forced };
    return write_shared(e, frame, error);
}

static WadiStatus write_frame(WadiSceneExporter *e, WadiFrameHeader *header, uint64_t key, const char *path,
                              WadiError *error)
{
    WadiFileNames made = { 0 };
    WadiExportFrame frame;
    WADI_TRY(wadi_scene_exporter_read(e, header, &frame, error));
    frame.key = key;
    frame.made = &made;
    WadiStatus status = wadi_export_begin_file(&frame, path, error);
    if (status == WADI_OK) {
        status = targets[e->job->def->target].write_frame(e, &frame, path, error);
    }
    if (status == WADI_OK) {
        status = wadi_output_index_add(&e->job->outputs, &made, key, error);
    }
    wadi_file_names_free(&made);
    return status;
}

void wadi_scene_exporter_count(const WadiFrameScene *frame_scene, int64_t *grains, int64_t *triangles)
{
    *triangles = 0;
    *grains = (int64_t)(frame_scene->foam.count + frame_scene->patch_count);
    for (int p = 0; p < frame_scene->part_count; ++p) {
        *grains += (int64_t)frame_scene->parts[p].grains.count;
        *triangles += (int64_t)frame_scene->parts[p].mesh.mesh.triangle_count;
    }
    for (int s = 0; s < frame_scene->solid_count; ++s) {
        *triangles += (int64_t)frame_scene->solids[s].mesh.triangle_count;
    }
}

static WadiStatus export_frame(WadiSceneExporter *e, int number, WadiError *error)
{
    const WadiRunView *view = &e->plan.view;
    char path[WADI_PATH_SIZE];
    WadiFrameLayout layout;
    int64_t grains = 0, triangles = 0;
    WADI_TRY(wadi_run_view_read_layout(view, number, &layout, error));
    snprintf(path, sizeof path, "%s/%s.%04d%s", e->job->folder, view->summary.name, number,
             targets[e->job->def->target].frame_suffix);
    uint64_t key;
    WADI_TRY(wadi_scene_exporter_key(e, &layout, &key, error));
    /* The shared files are made from a frame's looks: where they are missing, the frame is written again. */
    bool is_kept = e->has_shared && wadi_scene_exporter_has(e, path, key, false);
    if (!is_kept) {
        WADI_TRY(write_frame(e, &layout.header, key, path, error));
        wadi_scene_exporter_count(&e->maker.frame_scene, &grains, &triangles);
    }
    wadi_export_report_frame(e->job, number, number - view->first, view->last - view->first + 1, path,
                             is_kept, grains, triangles);
    return WADI_OK;
}

/* Prefixes the error with the frame's file, unless it names a file already. */
static WadiStatus prefix_frame_path(WadiStatus status, const char *path, WadiError *error)
{
    if (status != WADI_OK && error != NULL && strchr(error->text, '/') == NULL) {
        WadiError inner = *error;
        wadi_fail(error, inner.status, "%.1500s: %.2500s", path, inner.text);
    }
    return status;
}

static WadiStatus export_all(WadiSceneExporter *e, WadiError *error)
{
    const WadiExportDef *def = e->job->def;
    WadiRenderPlan *plan = &e->plan;
    WADI_TRY(wadi_picture_survey(&e->maker, plan, error));
    plan->frame_scene.has_bed = false; /* files have one level ground */
    WadiCamera first = wadi_frame_scene_camera(plan->view.scene, plan->shot.box, 0.0);
    e->light = wadi_frame_scene_light(plan->view.scene, &first,
                                      plan->environment.width > 0 ? &plan->environment : NULL);
    const uint64_t parts[] = { EXPORT_VERSION, def->target, def->is_y_up };
    e->settings = wadi_hash_bytes(plan->settings_hash, parts, sizeof parts);
    e->settings = wadi_hash_bytes(e->settings, &plan->shot.box, sizeof plan->shot.box);
    /* These shared files also have the length of the run, and USD's more. */
    const bool has_length = def->target == WADI_EXPORT_BLENDER || def->target == WADI_EXPORT_USD;
    e->shared_key =
        has_length ? wadi_hash_combine(e->settings, (uint64_t)plan->view.frame_count) : e->settings;
    if (def->target == WADI_EXPORT_USD) {
        e->shared_key = wadi_usd_target_key(e);
    }
    char shared[WADI_PATH_SIZE];
    shared_path(e, shared);
    e->has_shared = wadi_scene_exporter_has(e, shared, e->shared_key, targets[def->target].is_editable);
    if (def->is_one_file) {
        return wadi_usd_target_write_one_file(e, error);
    }
    for (int number = plan->view.first; number <= plan->view.last; ++number) {
        char path[WADI_PATH_SIZE];
        if (wadi_export_is_stopped(e->job)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped before frame %d", number);
        }
        wadi_run_frame_path(path, sizeof path, plan->view.run, plan->view.summary.name, number);
        WADI_TRY(prefix_frame_path(export_frame(e, number, error), path, error));
    }
    return WADI_OK;
}

WadiStatus wadi_export_scenes(WadiExportJob *job, const char *run, WadiError *error)
{
    WadiSceneExporter *e = NULL;
    if (job->def->target == WADI_EXPORT_BLENDER && job->def->is_y_up) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "in Blender z is up, as in wadi: export without y up");
    }
    WADI_TRY(WADI_NEW(&e, 1, "export", error));
    e->job = job;
    e->render = wadi_default_render_def();
    e->render.first_frame = job->def->first_frame;
    e->render.last_frame = job->def->last_frame;
    e->render.sets = job->def->sets;
    e->render.set_count = job->def->set_count;
    e->render.log = job->def->log;
    e->render.stop = job->def->stop;
    WadiStatus status = wadi_render_plan_open(&e->plan, run, &e->render, error);
    if (status == WADI_OK) {
        const WadiOutputWork work = {
            job->folder, e->plan.view.summary.name,
            wadi_run_view_work_key(&e->plan.view, wadi_hash_combine(e->plan.settings_hash, job->def->is_y_up))
        };
        status = wadi_output_index_open(&job->outputs, &work, NULL, error);
        if (status == WADI_OK) {
            status = export_all(e, error);
            wadi_output_index_close(&job->outputs);
        }
        wadi_file_names_free(&e->shared);
        wadi_picture_maker_free(&e->maker);
        wadi_render_plan_close(&e->plan);
    }
    WADI_DELETE(e, 1);
    return status;
}
