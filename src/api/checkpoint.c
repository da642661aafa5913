/* Checkpoints in memory: a simulation saved as the bytes of a checkpoint file, and created from them. */
#include <stdio.h>

#include "api/change.h"
#include "core/alloc.h"
#include "core/check.h"
#include "io/frame/frame_file.h"
#include "sim/sim.h"
#include "world/scene.h"

void wadi_buffer_release(WadiBuffer *buffer)
{
    if (buffer != NULL) {
        WADI_DELETE(buffer->bytes, buffer->size);
        *buffer = (WadiBuffer){ 0 };
    }
}

WadiStatus wadi_sim_save(const WadiSim *sim, WadiBuffer *buffer, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *buffer = (WadiBuffer){ 0 };
    WADI_TRY(wadi_sim_check_idle(sim, error));
    WadiFrameHeader header = {
        .time = sim->time, .frame = sim->frame, .fps = sim->scene->fps, .scene = sim->scene->content_hash
    };
    snprintf(header.name, sizeof header.name, "%s", sim->scene->name);
    WadiState state = { 0 }, checkpoint;
    WadiStatus status = wadi_sim_check_state(sim, error);
    if (status == WADI_OK) {
        status = wadi_sim_snapshot(sim, &state, error);
    }
    if (status == WADI_OK) {
        wadi_state_hash_arrays(&state, WADI_USE_CHECKPOINT);
        wadi_state_select(&state, WADI_USE_CHECKPOINT, &checkpoint);
        status = wadi_frame_bytes_write(&buffer->bytes, &buffer->size, "state", &header, &checkpoint, error);
    }
    wadi_state_free(&state);
    status = wadi_assert_status(status, asserts, error);
    if (status != WADI_OK) {
        wadi_buffer_release(buffer);
    }
    return status;
}

WadiStatus wadi_sim_load(WadiSim **sim, const WadiScene *scene, const WadiSimDef *def, const void *bytes,
                         size_t size, WadiError *error)
{
    const unsigned asserts = wadi_assert_count();
    *sim = NULL;
    if (bytes == NULL && size > 0) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the checkpoint of %zu bytes is a NULL pointer", size);
    }
    /* Read before the world is built, which may take long: broken bytes are reported at once. */
    WadiState state = { 0 };
    WadiFrameHeader header;
    WadiStatus status = wadi_frame_bytes_read(bytes, size, "checkpoint", "state", &header, &state, error);
    if (status == WADI_OK) {
        status = wadi_sim_create_empty(sim, scene, def, error);
    }
    if (status == WADI_OK) {
        status = wadi_changes_restore(*sim, &state, error);
    }
    if (status == WADI_OK) {
        status = wadi_sim_restore(*sim, &state, error);
    }
    wadi_state_free(&state);
    status = wadi_assert_status(status, asserts, error);
    if (status != WADI_OK) {
        wadi_sim_destroy(*sim);
        *sim = NULL;
    }
    return status;
}
