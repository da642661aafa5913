/* The frames of a run, one after another, for programs that show them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/run_view.h"
#include "api/show/show.h"
#include "core/alloc.h"
#include "core/check.h"
#include "io/frame/frame_file.h"
#include "io/run/run_files.h"

struct WadiRunReader {
    WadiRunView run;
    char *path;            /* of the run folder; run.run points to it */
    WadiWorld *world;      /* made when the first collider is wanted; NULL before */
    WadiState frame, next; /* `next`: being read, and the memory of the frame before */
    int number;            /* of the frame; 0: none */
    double time;
};

WadiStatus wadi_run_reader_open(WadiRunReader **reader, const char *run, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    static const char *const no_keys[] = { NULL };
    *reader = NULL;
    WadiRunReader *made = NULL;
    WADI_TRY(WADI_NEW(&made, 1, "reader of a run", error));
    WadiStatus status = wadi_string_copy(&made->path, run, strlen(run), error);
    if (status == WADI_OK) {
        status = wadi_run_view_open(&made->run, made->path, &(WadiRunViewDef){ .keys = no_keys }, error);
    }
    status = wadi_assert_status(status, asserts, error);
    if (status != WADI_OK) {
        wadi_run_reader_close(made);
        return status;
    }
    *reader = made;
    return WADI_OK;
}

void wadi_run_reader_close(WadiRunReader *reader)
{
    if (reader != NULL) {
        wadi_world_destroy(reader->world);
        wadi_state_free(&reader->frame);
        wadi_state_free(&reader->next);
        wadi_run_view_close(&reader->run);
        wadi_string_free(reader->path);
        WADI_DELETE(reader, 1);
    }
}

const char *wadi_run_reader_warning(const WadiRunReader *reader)
{
    return reader->run.assets_hash != 0 ? wadi_text_cstr(&reader->run.warning) : NULL;
}

const WadiScene *wadi_run_reader_scene(const WadiRunReader *reader)
{
    return reader->run.scene;
}

int wadi_run_reader_frames(const WadiRunReader *reader)
{
    int count = 0;
    if (wadi_run_find_last_frame(reader->path, reader->run.summary.name, &count, NULL) != WADI_OK) {
        count = reader->run.frame_count;
    }
    return count;
}

WadiStatus wadi_run_reader_read(WadiRunReader *reader, int frame, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    WadiFrameHeader header = { 0 };
    if (frame < 1) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "%s: no frame %d; the first is 1", reader->path, frame);
    }
    const WadiStatus status = wadi_assert_status(
        wadi_run_view_read_frame(&reader->run, frame, &header, &reader->next, error), asserts, error);
    if (status == WADI_OK) {
        const WadiState before = reader->frame;
        reader->frame = reader->next;
        reader->next = before; /* its memory is used again */
        reader->number = frame;
        reader->time = header.time;
    }
    return status;
}

int wadi_run_reader_frame(const WadiRunReader *reader)
{
    return reader->number;
}

double wadi_run_reader_time(const WadiRunReader *reader)
{
    return reader->time;
}

const char *wadi_run_reader_view_name(const WadiRunReader *reader, int n)
{
    return n >= 0 && n < reader->frame.count ? reader->frame.array[n].name : NULL;
}

static const WadiViewType view_types[] = {
    [WADI_TYPE_U8] = WADI_VIEW_U8,   [WADI_TYPE_U32] = WADI_VIEW_U32, [WADI_TYPE_U64] = WADI_VIEW_U64,
    [WADI_TYPE_I32] = WADI_VIEW_I32, [WADI_TYPE_F32] = WADI_VIEW_F32, [WADI_TYPE_F64] = WADI_VIEW_F64,
};

WadiStatus wadi_run_reader_view(const WadiRunReader *reader, const char *name, WadiView *view,
                                WadiError *error)
{
    *view = (WadiView){ 0 };
    const WadiStateArray *array = reader->number > 0 ? wadi_state_find(&reader->frame, name) : NULL;
    if (array == NULL || array->components > 3) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "no quantity '%s' in the frame", name);
    }
    const size_t size = wadi_type_size(array->type);
    *view = (WadiView){ .type = view_types[array->type],
                        .components = array->components,
                        .count = array->count,
                        .stride = size * (size_t)array->components };
    for (int c = 0; c < array->components; ++c) {
        view->data[c] = (const char *)array->data + (size_t)c * size;
    }
    return WADI_OK;
}

static WadiStatus need_world(WadiRunReader *reader, WadiError *error)
{
    return reader->world != NULL ? WADI_OK
                                 : wadi_world_create(&reader->world, reader->run.scene, NULL, error);
}

WadiStatus wadi_run_reader_collider_mesh(WadiRunReader *reader, int n, WadiMeshData *mesh, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *mesh = (WadiMeshData){ 0 };
    const WadiStateArray *x =
        reader->number > 0 ? wadi_state_find(&reader->frame, "position") : NULL; /* always three f64 */
    WadiBox box = { { -1, -1, -1 }, { 1, 1, 1 } };
    for (size_t i = 0; x != NULL && i < x->count; ++i) {
        const double *at = (const double *)x->data + 3 * i;
        box.min = (WadiVec3){ fmin(box.min.x, at[0]), fmin(box.min.y, at[1]), fmin(box.min.z, at[2]) };
        box.max = (WadiVec3){ fmax(box.max.x, at[0]), fmax(box.max.y, at[1]), fmax(box.max.z, at[2]) };
    }
    WadiStatus status = need_world(reader, error);
    if (status == WADI_OK) {
        status = wadi_show_collider(reader->world, n, reader->time, box, mesh, error);
    }
    return wadi_assert_status(status, asserts, error);
}

WadiStatus wadi_run_reader_solid(WadiRunReader *reader, const double *points, size_t count,
                                 uint8_t *is_inside, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    const WadiStatus status = need_world(reader, error);
    if (status == WADI_OK) {
        wadi_show_solid(reader->world, reader->time, points, count, is_inside);
    }
    return wadi_assert_status(status, asserts, error);
}

bool wadi_run_reader_collider_moves(WadiRunReader *reader, int n)
{
    return need_world(reader, NULL) == WADI_OK && wadi_show_moves(reader->world, n, reader->time);
}
