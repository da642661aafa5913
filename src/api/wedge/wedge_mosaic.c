/* The last frames of a wedge's runs side by side, from one camera with one exposure, so that they can be
 * compared. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/render/render_picture.h"
#include "api/wedge/wedge_runs.h"
#include "core/alloc.h"
#include "core/parallel.h"
#include "render/image/picture_sheet.h"

enum { COLUMNS_MAX = 12 };

typedef struct Mosaic {
    const WadiWedge *wedge;
    WadiRenderDef render;
    char width[40], height[40], run[WADI_PATH_SIZE], folder[WADI_PATH_SIZE];
    const char *sets[2];
    WadiRenderPlan plan;
    WadiPictureMaker maker;
    WadiRenderShot shot; /* of all runs */
    bool has_shot, has_exposure;
    char (*paths)[WADI_PATH_SIZE]; /* of the pictures, by run */
    WadiSheetPicture *pictures;
} Mosaic;

/* What all runs show, and the exposure of the first. */
static WadiStatus survey(Mosaic *m, WadiError *error)
{
    WadiRenderShot shot;
    WADI_TRY(wadi_render_shot_survey(&m->plan, &shot, error));
    if (!m->has_shot) {
        m->shot = shot;
        m->has_shot = true;
    }
    m->shot.box = wadi_box_union(m->shot.box, shot.box);
    m->shot.has_glass = m->shot.has_glass || shot.has_glass;
    m->shot.glass = fmax(m->shot.glass, shot.glass);
    return WADI_OK;
}

static WadiStatus draw(Mosaic *m, int i, WadiError *error)
{
    WADI_TRY(wadi_render_shot_set(&m->plan, &m->shot, error));
    if (!m->has_exposure) {
        WADI_TRY(wadi_picture_meter(&m->maker, &m->plan, error));
        m->shot.exposure = m->plan.shot.exposure;
        m->has_exposure = true;
    }
    const WadiOutputWork work = { m->plan.folder, m->plan.name,
                                  wadi_run_view_work_key(&m->plan.view, m->plan.settings_hash) };
    WadiOutputIndex outputs;
    WADI_TRY(wadi_output_index_open(&outputs, &work, NULL, error));
    bool is_kept;
    m->maker.outputs = &outputs;
    const int frame = m->plan.view.frame_count;
    WadiStatus status = wadi_picture_make(&m->maker, &m->plan, frame, &is_kept, error);
    wadi_output_index_close(&outputs);
    wadi_render_plan_path(&m->plan, frame, m->paths[i], WADI_PATH_SIZE);
    m->pictures[i].path = m->paths[i];
    return status;
}

/* Opens the plan of each run that is done, for `work`. */
static WadiStatus for_each_run(Mosaic *m, bool is_drawing, WadiError *error)
{
    for (int i = 0; i < m->wedge->run_count; ++i) {
        if (wadi_wedge_state(m->wedge, i) != WADI_WEDGE_DONE) {
            continue;
        }
        wadi_wedge_run_path(m->wedge, i, m->run);
        snprintf(m->folder, sizeof m->folder, "%.3500s/mosaic/%04d", m->wedge->folder, i + 1);
        WADI_TRY(wadi_render_plan_open(&m->plan, m->run, &m->render, error));
        WadiStatus status = is_drawing ? draw(m, i, error) : survey(m, error);
        wadi_render_plan_close(&m->plan);
        WADI_TRY(status);
    }
    return WADI_OK;
}

static void set_labels(Mosaic *m)
{
    for (int i = 0; i < m->wedge->run_count; ++i) {
        char label[WADI_WEDGE_LABEL_SIZE];
        wadi_wedge_label(m->wedge, i, label);
        snprintf(m->pictures[i].label, sizeof m->pictures[i].label, "%s%.140s",
                 m->pictures[i].path == NULL ? "failed: " : "", label);
    }
}

/* A row for each combination of all values but those of the last key. */
static int choose_columns(const WadiWedge *wedge)
{
    const size_t last = wedge->keys[wedge->key_count - 1].values.count;
    return wedge->key_count > 1 && !wedge->def->is_zip && last <= COLUMNS_MAX ? (int)last : 0;
}

static WadiStatus make(Mosaic *m, const char *path, WadiError *error)
{
    const size_t count = (size_t)m->wedge->run_count;
    WADI_TRY(WADI_NEW(&m->pictures, count, "pictures of a mosaic", error));
    WADI_TRY(WADI_NEW(&m->paths, count, "pictures of a mosaic", error));
    WADI_TRY(wadi_output_check_foreign(path, error));
    WADI_TRY(for_each_run(m, false, error));
    WADI_TRY(for_each_run(m, true, error));
    set_labels(m);
    return wadi_picture_sheet_write(path, m->pictures, m->wedge->run_count, choose_columns(m->wedge), error);
}

WadiStatus wadi_wedge_mosaic(const WadiWedge *wedge, char path[4096], WadiError *error)
{
    const WadiWedgeDef *def = wedge->def;
    const size_t count = (size_t)wedge->run_count;
    Mosaic *m = NULL;
    WADI_TRY(WADI_NEW(&m, 1, "mosaic", error));
    m->wedge = wedge;
    m->render = wadi_default_render_def();
    m->render.quality = def->quality;
    m->render.threads = def->threads;
    m->render.log = def->log;
    m->render.stop = def->stop;
    m->render.folder = m->folder;
    snprintf(m->width, sizeof m->width, "render.width=%d", def->width);
    snprintf(m->height, sizeof m->height, "render.height=%d", def->height);
    m->sets[0] = m->width;
    m->sets[1] = m->height;
    m->render.sets = m->sets;
    m->render.set_count = 2;
    wadi_parallel_set_threads(def->threads);
    char name[WADI_PATH_SIZE];
    snprintf(name, sizeof name, "%.4000s/mosaic.png", wedge->folder);
    WadiStatus status = make(m, name, error);
    if (status == WADI_OK) {
        memcpy(path, name, sizeof name);
    }
    wadi_picture_maker_free(&m->maker);
    WADI_DELETE(m->paths, count);
    WADI_DELETE(m->pictures, count);
    WADI_DELETE(m, 1);
    return status;
}
