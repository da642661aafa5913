/* Contact sheets. Frames are read twice, first for the common bounds and speeds, then to be drawn, so that
 * only one frame is in memory. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "io/run/run_folder.h"
#include "render/points/splat.h"
#include "wadi/picture.h"

enum { SHEET_DEF_COOKIE = 0x54ee7, FRAME_MAX = 64, GAP = 4, FOLDER_MAX = 32 };

WadiSheetDef wadi_default_sheet_def(void)
{
    return (WadiSheetDef){ .cookie = SHEET_DEF_COOKIE, .frames = 6, .width = 480, .elevation = 15.0 };
}

/* One frame of one run. */
typedef struct Cell {
    char path[4096];
} Cell;

typedef struct Sheet {
    const WadiSheetDef *def;
    Cell *cell; /* ordered by folder */
    int cell_count;
    int columns, rows;
    WadiSplatView view;
    WadiState state;
    WadiImage image;
} Sheet;

/* The i-th of `count` frames from 1 to `last`, denser at the beginning, where most of the motion is. */
static int chosen_frame(int i, int count, int last)
{
    double part = count > 1 ? (double)i / (count - 1) : 1.0;
    return 1 + (int)lrint(part * part * (last - 1));
}

static WadiStatus find_frames(Sheet *sheet, WadiError *error)
{
    const WadiSheetDef *def = sheet->def;
    WadiRunSummary *summary = NULL;
    WADI_TRY(WADI_NEW(&summary, 1, "run summary", error));
    WadiStatus status = WADI_OK;
    for (int f = 0; f < def->folder_count && status == WADI_OK; ++f) {
        status = wadi_run_summary_read(def->folders[f], summary, error);
        int last = status == WADI_OK ? wadi_run_count_frames(def->folders[f], summary->name) : 0;
        if (status == WADI_OK && last < 1) {
            status = wadi_fail(error, WADI_ERR_IO, "%s has no frames to draw", def->folders[f]);
        }
        for (int i = 0; i < def->frames && status == WADI_OK; ++i) {
            int frame = chosen_frame(i, def->frames, last);
            wadi_run_frame_path(sheet->cell[f * def->frames + i].path, sizeof sheet->cell->path,
                                def->folders[f], summary->name, frame);
        }
        wadi_run_summary_free(summary);
        *summary = (WadiRunSummary){ 0 };
    }
    WADI_DELETE(summary, 1);
    return status;
}

static WadiStatus read_cell(Sheet *sheet, int cell, WadiError *error)
{
    WadiFrameHeader header;
    return wadi_frame_file_read(sheet->cell[cell].path, "particles", &header, &sheet->state, error);
}

static double rms_speed(const WadiState *state)
{
    const WadiStateArray *velocity = wadi_state_find(state, "velocity");
    double sum = 0.0;
    if (velocity == NULL || velocity->count == 0 || velocity->type != WADI_TYPE_F32) {
        return 0.0;
    }
    const float *v = velocity->data;
    for (size_t i = 0; i < velocity->count * (size_t)velocity->components; ++i) {
        sum += (double)v[i] * (double)v[i];
    }
    return sqrt(sum / (double)velocity->count);
}

static WadiStatus frame_view(Sheet *sheet, WadiError *error)
{
    sheet->view = wadi_splat_view(sheet->def->azimuth, sheet->def->elevation);
    sheet->view.streak = sheet->def->streak;
    for (int i = 0; i < sheet->cell_count; ++i) {
        WADI_TRY(read_cell(sheet, i, error));
        WADI_TRY(wadi_splat_include(&sheet->view, &sheet->state, error));
        /* Twice the root mean square of the fastest frame: a few drops may exceed the colour ramp. */
        sheet->view.speed = fmax(sheet->view.speed, 2.0 * rms_speed(&sheet->state));
    }
    if (!(sheet->view.high[0] > sheet->view.low[0])) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the runs have no particles to draw");
    }
    return WADI_OK;
}

static WadiStatus draw(Sheet *sheet, const char *path, WadiError *error)
{
    const WadiSplatView *view = &sheet->view;
    int width = sheet->def->width;
    double aspect = (view->high[1] - view->low[1]) / (view->high[0] - view->low[0]);
    int height = (int)ceil(fmin(fmax(aspect, 0.1), 4.0) * width);
    WADI_TRY(wadi_image_init(&sheet->image, sheet->columns * (width + GAP) - GAP,
                             sheet->rows * (height + GAP) - GAP, error));
    memset(sheet->image.rgb, 255, (size_t)sheet->image.width * (size_t)sheet->image.height * 3);
    for (int i = 0; i < sheet->cell_count; ++i) {
        WADI_TRY(read_cell(sheet, i, error));
        int column = i % sheet->columns, row = i / sheet->columns;
        WADI_TRY(wadi_splat_draw(view, &sheet->state, &sheet->image, column * (width + GAP),
                                 row * (height + GAP), width, height, error));
    }
    return wadi_image_write_png(&sheet->image, path, error);
}

WadiStatus wadi_contact_sheet(const WadiSheetDef *def, const char *path, WadiError *error)
{
    if (def == NULL || def->cookie != SHEET_DEF_COOKIE) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the WadiSheetDef was not made by wadi_default_sheet_def");
    }
    if (def->frames < 1 || def->frames > FRAME_MAX || def->width < 16 || def->width > 4096 ||
        def->folder_count < 1 || def->folder_count > FOLDER_MAX || !(def->streak >= 0.0)) {
        return wadi_fail(error, WADI_ERR_ARGUMENT,
                         "a contact sheet takes 1 to %d runs, 1 to %d frames and 16 to 4096 pixels a frame",
                         FOLDER_MAX, FRAME_MAX);
    }
    const unsigned asserts = wadi_assert_count();
    Sheet *sheet = NULL;
    WADI_TRY(WADI_NEW(&sheet, 1, "contact sheet", error));
    sheet->def = def;
    sheet->cell_count = def->folder_count * def->frames;
    /* One run is drawn in two rows; several runs have one row each. */
    sheet->columns = def->folder_count > 1 || def->frames < 4 ? def->frames : (def->frames + 1) / 2;
    sheet->rows = (sheet->cell_count + sheet->columns - 1) / sheet->columns;
    WadiStatus status = WADI_NEW(&sheet->cell, (size_t)sheet->cell_count, "frames of the sheet", error);
    if (status == WADI_OK) {
        status = find_frames(sheet, error);
    }
    if (status == WADI_OK) {
        status = frame_view(sheet, error);
    }
    if (status == WADI_OK) {
        status = draw(sheet, path, error);
    }
    wadi_image_free(&sheet->image);
    wadi_state_free(&sheet->state);
    WADI_DELETE(sheet->cell, (size_t)sheet->cell_count);
    WADI_DELETE(sheet, 1);
    return wadi_assert_status(status, asserts, error);
}
