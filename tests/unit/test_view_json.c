/* The JSON that a page gets of a run whose files hold numbers that JSON lacks. */
#include <math.h>

#include "geom/read/json.h"
#include "io_scratch.h"
#include "scene_sim.h"
#include "view_session.h"

static const char scene_text[] =
    "wadi: 1\nname: t\nsolver: flip\ncell_size: 0.05\nframes: 2\nfps: 50\n"
    "domain: {min: [0, 0, 0], max: [0.6, 0.3, 0.4]}\nmaterials: {sand: {kind: sand}}\n"
    "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.15, 0.3, 0.15]}}}]\n";

/* Writes the frame again at another time. */
static void forge(const char *run, int frame, double time)
{
    static WadiState state;
    WadiError error = { 0 };
    WadiFrameHeader header = { 0 };
    char path[1024];
    wadi_run_frame_path(path, sizeof path, run, "t", frame);
    CHECK_OK(wadi_frame_file_read(path, "particles", &header, &state, &error), error);
    header.time = time;
    CHECK_OK(wadi_frame_file_write(path, "particles", &header, &state, &error), error);
    wadi_state_free(&state);
}

/* Takes what the session sent; all text is JSON. Counts the reports; `last_time` is that of the last. */
static int take_all(WadiViewHub *hub, WadiJsonType *last_time)
{
    int reports = 0;
    WadiViewOut out;
    while (wadi_view_hub_next(hub, &out)) {
        if (!out.is_binary) {
            WadiError error = { 0 };
            WadiJson json = { 0 };
            char *text = strndup((const char *)out.data, out.size);
            CHECK_OK(wadi_json_parse(&json, text, out.size, "message", &error), error);
            const uint32_t time = wadi_json_get(&json, 0, "time");
            if (time != WADI_JSON_NONE) {
                *last_time = json.values[time].type;
                reports += 1;
            }
            wadi_json_free(&json);
            free(text);
        }
        free(out.data);
    }
    return reports;
}

static void messages_are_json_whatever_a_run_holds(void **unused)
{
    (void)unused;
    static const double times[] = { NAN, INFINITY, -1e300 };
    static WadiViewSession session;
    static WadiViewHub hub;
    WadiError error = { 0 };
    WadiScene *scene = load_scene(scene_text);
    WadiRunDef def = wadi_default_run_def();
    char run[600];
    snprintf(run, sizeof run, "%s/t.run", scratch);
    def.folder = run;
    CHECK_OK(wadi_run(scene, &def, NULL, &error), error);
    for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
        forge(run, 1, times[i]);
        const WadiViewDef view = { .run = run };
        wadi_view_hub_init(&hub);
        wadi_view_session_init(&session, &view, &hub);
        CHECK_OK(wadi_view_load(&session, &error), error);
        wadi_view_hub_connect(&hub, NULL);
        wadi_view_session_begin(&session);
        session.report_at = -1e9; /* a report is due at once */
        wadi_view_session_turn(&session);
        WadiJsonType time = WADI_JSON_OBJECT;
        assert_int_equal(take_all(&hub, &time), 1);
        assert_int_equal(time, isfinite(times[i]) ? WADI_JSON_NUMBER : WADI_JSON_NULL);
        wadi_view_session_free(&session);
        wadi_view_hub_free(&hub);
    }
    wadi_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_json_whatever_a_run_holds),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
