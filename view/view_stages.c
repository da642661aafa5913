/* A step, stage by stage: the velocities that the grid of the solver has in the cells of a cut after each. */
#include <stdlib.h>
#include <string.h>

#include "view_session.h"

enum { STAGES_MAX = 48, STAGE_NAME = 32, HEAD = 56 };

/* The message while it grows: a head, the types of the cells, then a name and velocities for each stage. */
typedef struct Record {
    WadiViewSlice slice; /* before the step */
    unsigned char *data;
    size_t first, each; /* bytes before the stages, and of one */
    uint32_t count;
} Record;

/* Stages that run in several parts count once, with what the last part left. */
static unsigned char *place_of(Record *record, const char *stage)
{
    unsigned char *stages = record->data + record->first;
    if (record->count > 0) {
        unsigned char *last = stages + (record->count - 1) * record->each;
        if (strncmp((const char *)last, stage, STAGE_NAME - 1) == 0) {
            return last;
        }
    }
    return record->count < STAGES_MAX ? stages + record->count++ * record->each : NULL;
}

static void note_stage(void *user, const char *stage, const WadiStageGrid *grid)
{
    Record *record = user;
    const WadiViewSlice *slice = &record->slice;
    const size_t count = (size_t)slice->count[0] * (size_t)slice->count[1];
    const int other[2] = { slice->axis == 0 ? 1 : 0, slice->axis == 2 ? 1 : 2 };
    unsigned char *at = place_of(record, stage);
    if (at == NULL) {
        return;
    }
    memset(at, 0, STAGE_NAME);
    memcpy(at, stage, strnlen(stage, STAGE_NAME - 1));
    for (size_t n = 0; n < count; ++n) {
        double middle[3], v[3];
        float velocity[2] = { slice->velocity[n][0], slice->velocity[n][1] };
        if (grid != NULL) {
            wadi_view_slice_middle(slice, n, middle);
            const bool has = (slice->type[n] & (WADI_VIEW_WATER | WADI_VIEW_SAND)) != 0 &&
                             wadi_stage_velocity(grid, middle, v);
            velocity[0] = has ? (float)v[other[0]] : 0.0f;
            velocity[1] = has ? (float)v[other[1]] : 0.0f;
        }
        memcpy(at + STAGE_NAME + n * sizeof velocity, velocity, sizeof velocity);
    }
}

static bool begin(Record *record)
{
    const WadiViewSlice *slice = &record->slice;
    const size_t count = (size_t)slice->count[0] * (size_t)slice->count[1];
    const uint32_t kind = 5;
    size_t size = 0;
    record->first = HEAD + (count + 7) / 8 * 8;
    record->each = STAGE_NAME + 2 * sizeof(float) * count;
    record->data = calloc(1, record->first + STAGES_MAX * record->each);
    unsigned char *cells = record->data != NULL ? wadi_view_slice_message(slice, &size) : NULL;
    if (cells == NULL) {
        return false;
    }
    memcpy(record->data, cells, 48);
    memcpy(record->data, &kind, sizeof kind);
    memcpy(record->data + HEAD, slice->type, count);
    free(cells);
    return true;
}

void wadi_view_show_stages(WadiViewSession *session)
{
    Record record = { 0 };
    const bool has_cut = session->slice_axis <= 2;
    session->is_playing = false;
    if (!wadi_view_cut(session, has_cut ? session->slice_axis : 1, has_cut ? session->slice_at : 0.5,
                       &record.slice) ||
        !begin(&record)) {
        free(record.data);
        wadi_view_slice_free(&record.slice);
        wadi_view_complain(session, "stages", "cells are shown of scenes with a domain, as memory allows");
        return;
    }
    wadi_sim_watch_stages(session->sim, note_stage, &record);
    wadi_view_advance(session);
    if (session->sim != NULL) {
        wadi_sim_watch_stages(session->sim, NULL, NULL);
    }
    memcpy(record.data + 48, &record.count, sizeof record.count);
    wadi_view_slice_free(&record.slice);
    wadi_view_hub_send(session->hub, record.data, record.first + record.count * record.each, true, 0);
}
