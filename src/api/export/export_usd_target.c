/* The files of a run for programs that read USD. */
#include <stdio.h>
#include <string.h>

#include "api/export/export_scenes.h"
#include "core/hash.h"
#include "export/export_sky.h"
#include "export/usd/export_usd.h"

/* Level sets that `wadi export --to vdb` has put beside, from the folder of the files. */
static const char *const volumes = "../vdb";

static WadiUsdRoot root_of(const WadiSceneExporter *e, const char *sky)
{
    const WadiExportDef *def = e->job->def;
    return (WadiUsdRoot){ .first_frame = 1,
                          .last_frame = e->plan.view.frame_count,
                          .is_one_file = def->is_one_file,
                          .folder = e->job->folder,
                          .sky = sky,
                          .volumes = def->folder == NULL && !def->is_y_up ? volumes : NULL };
}

uint64_t wadi_usd_target_key(const WadiSceneExporter *e)
{
    const WadiUsdRoot root = root_of(e, NULL);
    const WadiScene *scene = e->plan.view.scene;
    uint64_t key = wadi_hash_combine(e->settings, (uint64_t)root.last_frame);
    key = wadi_hash_combine(key, root.is_one_file);
    for (int m = 0; m < scene->material_count; ++m) {
        for (int f = root.first_frame; f <= root.last_frame; ++f) {
            key = wadi_hash_combine(key, wadi_usd_has_volume(&root, scene->materials[m].name, f));
        }
    }
    return key;
}

void wadi_usd_target_shared_name(const char *name, char *file)
{
    snprintf(file, WADI_EXPORT_FILE_SIZE, "%.280s.usda", name);
}

/* Declares what frames have, without values. */
static WadiStatus write_manifest(const WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                                 WadiArena *arena, WadiError *error)
{
    const WadiUsdStates states = { &e->maker.frame, &e->maker.secondary };
    WadiCrate crate;
    WADI_TRY(wadi_export_begin_file(frame, path, error));
    wadi_usd_open(&crate, frame, path, "what frames have", 1, e->plan.view.frame_count, error);
    crate.has_values = false;
    const WadiStatus status = wadi_usd_put_frame(&crate, frame, &states, arena, error);
    crate.out.status = crate.out.status == WADI_OK ? status : crate.out.status;
    return wadi_crate_close(&crate);
}

WadiStatus wadi_usd_target_write_shared(const WadiSceneExporter *e, const WadiExportFrame *frame,
                                        const char *path, WadiError *error)
{
    char sky[WADI_EXPORT_FILE_SIZE], file[WADI_EXPORT_FILE_SIZE], layer[WADI_PATH_SIZE];
    WadiArena arena = { 0 };
    snprintf(sky, sizeof sky, "%.280s.sky.hdr", frame->name);
    snprintf(layer, sizeof layer, "%.3700s/%s", e->job->folder, sky);
    WADI_TRY(wadi_export_begin_file(frame, layer, error));
    WADI_TRY(wadi_export_sky_hdr(layer, &frame->light, 1.0, error));
    wadi_usd_file(frame, "static", file);
    snprintf(layer, sizeof layer, "%.3700s/%s", e->job->folder, file);
    WadiStatus status = wadi_usd_write_static(frame, layer, &arena, error);
    if (status == WADI_OK && !e->job->def->is_one_file) {
        wadi_usd_file(frame, "manifest", file);
        snprintf(layer, sizeof layer, "%.3700s/%s", e->job->folder, file);
        status = write_manifest(e, frame, layer, &arena, error);
    }
    wadi_arena_free(&arena);
    const WadiUsdRoot root = root_of(e, sky);
    return status == WADI_OK ? wadi_usd_write_root(frame, &root, path, error) : status;
}

static WadiStatus put_frame(WadiSceneExporter *e, WadiCrate *crate, const WadiExportFrame *frame,
                            WadiError *error)
{
    const WadiUsdStates states = { &e->maker.frame, &e->maker.secondary };
    return wadi_usd_put_frame(crate, frame, &states, &e->maker.frame_scene.arena, error);
}

WadiStatus wadi_usd_target_write_frame(WadiSceneExporter *e, const WadiExportFrame *frame, const char *path,
                                       WadiError *error)
{
    WadiCrate crate;
    char what[40];
    snprintf(what, sizeof what, "frame %d", frame->frame);
    wadi_usd_open(&crate, frame, path, what, frame->frame, frame->frame, error);
    const WadiStatus status = put_frame(e, &crate, frame, error);
    crate.out.status = crate.out.status == WADI_OK ? status : crate.out.status;
    return wadi_crate_close(&crate);
}

/* The key of all frames together. */
static WadiStatus key_of_all(const WadiSceneExporter *e, uint64_t *key, WadiError *error)
{
    const WadiRunView *view = &e->plan.view;
    *key = e->shared_key;
    for (int number = view->first; number <= view->last; ++number) {
        WadiFrameLayout layout;
        uint64_t frame;
        WADI_TRY(wadi_run_view_read_layout(view, number, &layout, error));
        WADI_TRY(wadi_scene_exporter_key(e, &layout, &frame, error));
        *key = wadi_hash_combine(*key, frame);
    }
    return WADI_OK;
}

static void report(const WadiSceneExporter *e, int number, const char *path, bool is_kept)
{
    const WadiRunView *view = &e->plan.view;
    int64_t grains = 0, triangles = 0;
    if (!is_kept) {
        wadi_scene_exporter_count(&e->maker.frame_scene, &grains, &triangles);
    }
    wadi_export_report_frame(e->job, number, number - view->first, view->last - view->first + 1, path,
                             is_kept, grains, triangles);
}

/* Adds all frames. The layer is opened with the first, whose settings name it. */
static WadiStatus put_frames(WadiSceneExporter *e, WadiCrate *crate, const char *path, uint64_t key,
                             WadiFileNames *made, bool *is_open, WadiError *error)
{
    const WadiRunView *view = &e->plan.view;
    for (int number = view->first; number <= view->last; ++number) {
        WadiFrameLayout layout;
        WadiExportFrame frame;
        if (wadi_export_is_stopped(e->job)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped before frame %d", number);
        }
        WADI_TRY(wadi_run_view_read_layout(view, number, &layout, error));
        WADI_TRY(wadi_scene_exporter_read(e, &layout.header, &frame, error));
        frame.key = key;
        frame.made = made;
        if (!*is_open) {
            WADI_TRY(wadi_export_begin_file(&frame, path, error));
            wadi_usd_open(crate, &frame, path, "all frames", view->first, view->last, error);
            *is_open = true;
        }
        WADI_TRY(put_frame(e, crate, &frame, error));
        WADI_TRY(crate->out.status);
        report(e, number, path, false);
    }
    return WADI_OK;
}

WadiStatus wadi_usd_target_write_one_file(WadiSceneExporter *e, WadiError *error)
{
    const WadiRunView *view = &e->plan.view;
    char path[WADI_PATH_SIZE];
    uint64_t key;
    snprintf(path, sizeof path, "%.3700s/%.280s.usdc", e->job->folder, view->summary.name);
    WADI_TRY(key_of_all(e, &key, error));
    if (e->has_shared && wadi_scene_exporter_has(e, path, key, false)) {
        for (int number = view->first; number <= view->last; ++number) {
            report(e, number, path, true);
        }
        return WADI_OK;
    }
    WadiCrate crate;
    WadiFileNames made = { 0 };
    bool is_open = false;
    WadiStatus status = put_frames(e, &crate, path, key, &made, &is_open, error);
    if (is_open) {
        crate.out.status = crate.out.status == WADI_OK ? status : crate.out.status;
        status = wadi_crate_close(&crate);
    }
    if (status == WADI_OK) {
        status = wadi_output_index_add(&e->job->outputs, &made, key, error);
    }
    wadi_file_names_free(&made);
    return status;
}
