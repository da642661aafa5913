/* What a picture is drawn of: a frame, its foam, and the wetness and fine grains of its sand. */
#include "api/render/render_picture.h"

typedef void PathOf(char *path, size_t size, const char *folder, const char *name, int frame);

/* The path of a file that `wadi secondary` makes; false: it is not there, or not drawn. */
static bool has_file(const WadiRenderPlan *plan, PathOf *path_of, int frame, char path[WADI_PATH_SIZE])
{
    path_of(path, WADI_PATH_SIZE, plan->view.run, plan->view.summary.name, frame);
    return plan->view.scene->render.has_secondary && wadi_file_exists(path);
}

WadiStatus wadi_picture_key(const WadiRenderPlan *plan, const WadiFrameLayout *frame, uint64_t *key,
                            WadiError *error)
{
    WadiFrameLayout layout[WADI_PICTURE_FILES];
    PathOf *const path_of[WADI_PICTURE_FILES] = { wadi_run_secondary_path, wadi_run_wet_path,
                                                  wadi_run_grains_path };
    char path[WADI_PATH_SIZE];
    for (int i = 0; i < WADI_PICTURE_FILES; ++i) {
        layout[i].array_count = 0;
        if (has_file(plan, path_of[i], frame->header.frame, path)) {
            WADI_TRY(wadi_frame_file_read_layout(path, "particles", &layout[i], error));
            WADI_TRY(wadi_run_check_scene(&plan->view.summary, path, layout[i].header.scene, error));
        }
    }
    *key = wadi_render_plan_key(plan, frame, layout);
    return WADI_OK;
}

static WadiStatus wet_sand(WadiPictureMaker *maker, const WadiRenderPlan *plan, int frame, WadiError *error)
{
    const WadiScene *scene = plan->view.scene;
    WadiFrameHeader header;
    char path[WADI_PATH_SIZE];
    if (!wadi_wet_sand_applies(scene, &maker->frame)) {
        return WADI_OK;
    }
    maker->wet.list.count = 0;
    if (has_file(plan, wadi_run_wet_path, frame, path)) {
        WADI_TRY(wadi_frame_file_read(path, "particles", &header, &maker->wet_file, error));
        WADI_TRY(wadi_wet_sand_load(&maker->wet, &maker->wet_file, error));
    } else {
        WADI_TRY(wadi_arena_reset(&maker->arena, error));
        WADI_TRY(wadi_wet_sand_step(&maker->wet, scene, &maker->frame, 0.0, &maker->arena, error));
    }
    return wadi_wet_sand_apply(&maker->wet, &maker->frame, error);
}

WadiStatus wadi_picture_read(WadiPictureMaker *maker, const WadiRenderPlan *plan, int frame,
                             WadiFrameHeader *header, WadiError *error)
{
    char path[WADI_PATH_SIZE];
    WadiFrameHeader other;
    wadi_state_clear(&maker->secondary);
    if (has_file(plan, wadi_run_secondary_path, frame, path)) {
        WADI_TRY(wadi_frame_file_read(path, "particles", &other, &maker->secondary, error));
    }
    wadi_state_clear(&maker->grains);
    if (has_file(plan, wadi_run_grains_path, frame, path)) {
        WADI_TRY(wadi_frame_file_read(path, "particles", &other, &maker->grains, error));
    }
    WADI_TRY(wadi_run_view_read_frame(&plan->view, frame, header, &maker->frame, error));
    return wet_sand(maker, plan, frame, error);
}
