/* The session of the view without a server: scenes and runs that vanish, steps that fail, recordings. Every
 * message is safe in every state, and a state that is lost comes back. */
#include "failing_alloc.h"
#include "io_scratch.h"
#include "sim/sim.h"
#include "stop_flag.h"
#include "view_session.h"

static const char scene_text[] =
    "wadi: 1\nname: box\nsolver: sph\ncell_size: 0.05\nframes: 6\nfps: 50\n"
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.4]}\n"
    "materials: {sand: {kind: sand}, water: {kind: water}}\n"
    "bodies:\n"
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}\n"
    "  - {material: water, shape: {box: {min: [0.3, 0, 0], max: [0.4, 0.2, 0.1]}}}\n"
    "colliders: [{name: post, shape: {sphere: {center: [0.2, 0.1, 0], radius: 0.05}}}]\n";

static const char *const every_message[] = {
    "play",
    "pause",
    "step",
    "seek 1",
    "seek 3",
    "seek 999999",
    "speed 2",
    "set materials.sand.friction_angle=20",
    "set gravity=[0, 0, -5]",
    "set nothing=1",
    "pour sand 0.2 0.1 0.3 0.04 0 0 -1 0.5",
    "pour water 0.2 0.1 0.3 1e8 0 0 -1 0",
    "pour gold 0.2 0.1 0.3 0.04 0 0 -1 0",
    "wet sand 0.3",
    "wet water 0.3",
    "dig 0.2 0.1 0.3 0.02",
    "push 0.2 0.1 0.3 0.05",
    "push 0.1 0.1 0.3 0.05",
    "release",
    "colour velocity",
    "colour density",
    "colour nothing",
    "colour material",
    "surface 1",
    "surface 0",
    "record",
    "range 0 3",
    "range 0 0",
    "mark",
    "undo",
    "slice 1 0.5",
    "slice 3 0",
    "link",
    "change - {step: 1, nonsense: 3}",
    "reach 4",
    "stages",
    "mark",
    "scene nothing",
    "solver nothing",
    "restart",
};

typedef struct Stand {
    WadiViewDef def;
    WadiViewScene other;
    WadiViewHub hub;
    WadiViewSession session;
    char news[20000]; /* the problems and notes so far */
    char stats[4000]; /* the last ones */
    int pictures;
    uint32_t particles, frame; /* of the last picture */
    atomic_bool stop;
} Stand;

static Stand stand;

static void drain(void)
{
    WadiViewOut out;
    while (wadi_view_hub_next(&stand.hub, &out)) {
        const char *text = (const char *)out.data;
        if (out.picture > 0) {
            const WadiViewMessage ack = { .kind = WADI_VIEW_ACK, .number = (long)out.picture };
            wadi_view_hub_receive(&stand.hub, &ack);
            memcpy(&stand.frame, out.data + 20, sizeof stand.frame);
            memcpy(&stand.particles, out.data + 28, sizeof stand.particles);
            stand.pictures += 1;
        } else if (!out.is_binary && strstr(text, "\"type\":\"stats\"") != NULL &&
                   out.size < sizeof stand.stats) {
            snprintf(stand.stats, sizeof stand.stats, "%.*s", (int)out.size, text);
        } else if (!out.is_binary && strstr(text, "\"type\":\"scene\"") == NULL) {
            const size_t used = strlen(stand.news);
            snprintf(stand.news + used, sizeof stand.news - used, "%.*s\n", (int)out.size, text);
        }
        free(out.data);
    }
}

static void turns(int count)
{
    for (int i = 0; i < count; ++i) {
        stand.session.picture_at = 0.0; /* each turn may send a picture */
        wadi_view_session_turn(&stand.session);
        drain();
    }
}

static void say(const char *text)
{
    WadiViewMessage message;
    assert_true(wadi_view_message_read(text, strlen(text), &message));
    stand.news[0] = '\0';
    wadi_view_obey(&stand.session, &message, 1);
    turns(2);
}

static void begin(const char *run, const char *output)
{
    static char played[600];
    WadiError error = { 0 };
    memset(&stand, 0, sizeof stand);
    snprintf(played, sizeof played, "%s/played", scratch);
    scratch_write("box.yaml", scene_text);
    stand.other = (WadiViewScene){ .name = "other", .summary = "", .text = scene_text, .coarsen = 1.0 };
    stand.def = (WadiViewDef){ .run = run,
                               .scene = wadi_default_scene_def(),
                               .output = output != NULL ? output : played,
                               .scenes = &stand.other,
                               .scene_count = 1,
                               .threads = 1,
                               .is_paused = true,
                               .stop = stop_when(&stand.stop) };
    stand.def.scene.path = run == NULL ? strdup(scratch_path("box.yaml")) : NULL;
    wadi_view_hub_init(&stand.hub);
    wadi_view_session_init(&stand.session, &stand.def, &stand.hub);
    wadi_view_hub_connect(&stand.hub, NULL);
    CHECK_OK(wadi_view_load(&stand.session, &error), error);
    wadi_view_session_begin(&stand.session);
    turns(2);
    assert_int_equal(stand.pictures, 1);
}

static void wait_for_record(void)
{
    for (int i = 0; i < 6000 && stand.session.recorder.is_busy; ++i) {
        turns(1);
        usleep(5000);
    }
    assert_false(stand.session.recorder.is_busy);
}

static void end(void)
{
#ifdef __SANITIZE_THREAD__
    wait_for_record(); /* the flag is one of signal handlers, not an atomic */
#endif
    stand.stop = true;
    wadi_view_session_free(&stand.session);
    wadi_view_hub_end(&stand.hub);
    wadi_view_hub_free(&stand.hub);
    free((char *)stand.def.scene.path);
}

static void check_news(const char *part)
{
    if (strstr(stand.news, part) == NULL) {
        fail_msg("'%s' is not in: %s", part, stand.news);
    }
}

static void check_no_problem(void)
{
    if (strstr(stand.news, "\"type\":\"problem\"") != NULL) {
        fail_msg("%s", stand.news);
    }
}

/* Two rounds, so that each message also follows all others. */
static void say_everything(void)
{
    for (size_t i = 0; i < 2 * sizeof every_message / sizeof *every_message; ++i) {
        say(every_message[i % (sizeof every_message / sizeof *every_message)]);
    }
}

/* The simulation is there: it can be stepped, poured into and coloured, and the page sees it. */
static void check_plays(void)
{
    assert_non_null(stand.session.sim);
    const int64_t steps = wadi_sim_steps(stand.session.sim);
    const int pictures = stand.pictures;
    say("step");
    check_no_problem();
    assert_int_equal(wadi_sim_steps(stand.session.sim), steps + 1);
    assert_true(stand.pictures > pictures);
    say("dig 0.2 0.1 0.35 0.06");
    const uint32_t particles = stand.particles;
    say("pour sand 0.2 0.1 0.35 0.04 0 0 -1 0");
    check_no_problem();
    assert_true(stand.particles > particles);
    say("set materials.sand.cohesion=5");
    check_no_problem();
    say("colour velocity");
    check_no_problem();
}

static void a_scene_that_cannot_be_started_leaves_the_present_one(void **state)
{
    (void)state;
    static const char *const bad[] = { "wadi: 1\nname: box\nsolver: sp\n", "", "wadi: 1\n{", NULL };
    begin(NULL, NULL);
    for (int i = 0; i < 4; ++i) {
        say("step");
        const uint64_t hash = wadi_sim_state_hash(stand.session.sim);
        if (bad[i] != NULL) {
            scratch_write("box.yaml", bad[i]);
        } else {
            unlink(scratch_path("box.yaml"));
        }
        say("restart");
        check_news("\"type\":\"problem\"");
        check_news("box.yaml");
        assert_true(wadi_sim_state_hash(stand.session.sim) == hash);
        check_plays();
        scratch_write("box.yaml", scene_text);
        say("restart");
        assert_string_equal(stand.news, "");
        assert_int_equal(wadi_sim_steps(stand.session.sim), 0);
        assert_int_equal(stand.frame, 1);
    }
    /* Loads, and is refused by the solver or by the memory there is. */
    say("solver dem");
    check_news("water");
    check_plays();
    char large[sizeof scene_text + 40];
    snprintf(large, sizeof large, "%.*s0.00001%s", (int)(strstr(scene_text, "0.05") - scene_text), scene_text,
             strstr(scene_text, "0.05") + 4);
    scratch_write("box.yaml", large);
    const int64_t steps = wadi_sim_steps(stand.session.sim);
    say("restart");
    check_news("GB of memory");
    assert_int_equal(wadi_sim_steps(stand.session.sim), steps);
    check_plays();
    unlink(scratch_path("box.yaml"));
    say_everything();
    end();
}

/* A position that is not finite: the next step fails. */
static void poison(void)
{
    stand.session.sim->particles.x[3] = NAN;
}

static void a_step_that_fails_gives_the_state_before_it(void **state)
{
    (void)state;
    for (int has_saved = 0; has_saved < 2; ++has_saved) {
        begin(NULL, NULL);
        say("step");
        say("push 0.2 0.1 0.3 0.05");
        say("step");
        if (has_saved) {
            wadi_view_save_sometimes(&stand.session, 1e9);
            assert_true(stand.session.saved.state.size > 0);
        }
        say("step");
        say("pour water 0.2 0.1 0.3 0.04 0 0 0 0");
        const uint64_t hash = wadi_sim_state_hash(stand.session.sim);
        poison();
        say("step");
        check_news("stopped");
        check_news("stage");
        check_news("particle 3");
        check_news("restart");
        assert_int_equal(wadi_sim_steps(stand.session.sim), 3);
        assert_true(wadi_sim_state_hash(stand.session.sim) == hash);
        assert_null(wadi_sim_stopped_stage(stand.session.sim));
        check_plays();
        say("push 0.2 0.1 0.2 0.05");
        assert_string_equal(stand.news, "");
        poison();
        say_everything();
        end();
    }
}

/* Nothing good is left: a checkpoint of noise. Messages are safe, and a restart works. */
static void a_simulation_that_cannot_be_made_again_can_be_restarted(void **state)
{
    (void)state;
    const size_t count = sizeof every_message / sizeof *every_message;
    for (size_t first = 0; first < count; ++first) {
        begin(NULL, NULL);
        CHECK_OK(wadi_sim_save(stand.session.sim, &stand.session.saved.state, NULL), (WadiError){ 0 });
        memset(stand.session.saved.state.bytes, 7, stand.session.saved.state.size);
        poison();
        say("step");
        check_news("cannot be made again");
        assert_non_null(wadi_sim_stopped_stage(stand.session.sim));
        if (first % 2 == 1) { /* as after a change that found no memory */
            wadi_sim_release(stand.session.sim);
        }
        say(every_message[first]);
        say("colour density");
        say("surface 1");
        say("restart");
        check_plays();
        end();
    }
}

static void without_a_simulation_messages_are_answered(void **state)
{
    (void)state;
    begin(NULL, NULL);
    wadi_view_unload(&stand.session);
    for (size_t i = 0; i + 1 < sizeof every_message / sizeof *every_message; ++i) {
        say(every_message[i]);
        assert_null(stand.session.sim);
    }
    say("step");
    say("restart");
    check_plays();
    end();
}

/* Changes and restarts that find no memory, at each allocation. */
static void missing_memory_is_a_message(void **state)
{
    (void)state;
    wadi_set_allocator(&failing_allocator);
    for (int calls = 0; calls < 400; calls += 7) {
        begin(NULL, NULL);
        say("step");
        alloc_calls_left = calls;
        say(calls % 2 == 0 ? "set materials.sand.cohesion=5" : "pour water 0.2 0.1 0.3 0.04 0 0 0 0");
        say("colour density");
        alloc_calls_left = INT_MAX;
        say("colour material");
        alloc_calls_left = calls;
        say("restart");
        alloc_calls_left = INT_MAX;
        turns(2);
        if (!wadi_view_has_source(&stand.session) || wadi_sim_stopped_stage(stand.session.sim) != NULL) {
            say("restart");
        }
        check_plays();
        end();
    }
    wadi_set_allocator(NULL);
}

static void make_run(const char *folder, int frames)
{
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef def = wadi_default_scene_def();
    def.text = scene_text;
    CHECK_OK(wadi_scene_load(&scene, &def, &error), error);
    WadiRunDef run = wadi_default_run_def();
    run.folder = folder;
    run.frames = frames;
    run.threads = 1;
    run.mode = WADI_RUN_OVERWRITE;
    CHECK_OK(wadi_run(scene, &run, NULL, &error), error);
    wadi_scene_destroy(scene);
}

static void a_run_that_vanishes_keeps_its_last_frame(void **state)
{
    (void)state;
    char run[600], path[700];
    snprintf(run, sizeof run, "%s/seen.run", scratch);
    make_run(run, 3);
    begin(run, NULL);
    say("seek 2");
    assert_int_equal(stand.frame, 2);
    say_everything();
    say("seek 2");
    snprintf(path, sizeof path, "%s/particles/box.0003.h5", run);
    assert_int_equal(truncate(path, 5000), 0);
    say("seek 3");
    check_news("box.0003.h5");
    assert_int_equal(stand.frame, 2);
    const int pictures = stand.pictures;
    say("colour velocity");
    assert_true(stand.pictures > pictures); /* of frame 2, which is still there */
    say("play");
    turns(20);
    say("pause");
    scratch_remove_tree(run);
    say("seek 3");
    check_news("seen.run");
    say("restart");
    check_news("seen.run");
    assert_true(wadi_run_reader_frame(stand.session.reader) > 0);
    say_everything();
    make_run(run, 4); /* a longer one in its place */
    say("restart");
    assert_string_equal(stand.news, "");
    say("seek 4");
    assert_int_equal(stand.frame, 4);
    end();
}

static void recordings_never_write_over_anything(void **state)
{
    (void)state;
    char output[600], second[600], third[600], mark[700];
    snprintf(output, sizeof output, "%s/mine.run", scratch);
    snprintf(second, sizeof second, "%s/mine-2.run", scratch);
    snprintf(third, sizeof third, "%s/mine-3.run", scratch);
    snprintf(mark, sizeof mark, "%s/run.json", output);
    make_run(output, 2);
    assert_int_equal(mkdir(second, 0777), 0);
    scratch_write("mine-2.run/letter.txt", "not a run");
    struct stat before, after;
    assert_int_equal(stat(mark, &before), 0);
    begin(NULL, output);
    say("push 0.2 0.1 0.3 0.05");
    while (wadi_sim_frame(stand.session.sim) < 4) {
        say("step");
    }
    say("record");
    check_news("\"type\":\"note\"");
    check_news("4 frames into");
    check_news("mine-3.run");
    check_news("mine.run is kept");
    say("record");
    check_news("still being written");
    stand.session.report_at = 0.0;
    turns(1);
    assert_non_null(strstr(stand.stats, "\"recording\":true"));
    assert_non_null(strstr(stand.stats, "\"to_record\":4"));
    /* It goes on while everything else happens, from the scene as it was. */
    unlink(scratch_path("box.yaml"));
    say("restart");
    scratch_write("box.yaml", scene_text);
    say("restart");
    assert_int_equal(wadi_sim_steps(stand.session.sim), 0);
    stand.news[0] = '\0';
    wait_for_record();
    turns(1);
    check_news("recorded");
    check_news("4 frames");
    check_news("wadi render");
    assert_int_equal(stat(mark, &after), 0);
    assert_true(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    WadiRunInfo info;
    CHECK_OK(wadi_run_info_read(&info, third, NULL), (WadiError){ 0 });
    assert_true(info.is_finished && info.frames == 4);
    wadi_run_info_release(&info);
    end();
}

/* All messages beside a recording, and an end in the middle of it. */
static void a_recording_that_is_cut_short_can_be_continued(void **state)
{
    (void)state;
    char output[600];
    snprintf(output, sizeof output, "%s/cut.run", scratch);
    begin(NULL, output);
    while (wadi_sim_frame(stand.session.sim) < 12) {
        say("step");
    }
    say("record");
    say_everything();
    wait_for_record();
    say("restart");
    while (wadi_sim_frame(stand.session.sim) < 12) {
        say("step");
    }
    say("record");
    char folder[3000];
    snprintf(folder, sizeof folder, "%s", stand.session.recorder.folder);
    assert_string_not_equal(folder, output);
    end(); /* waits for one step at most */
    WadiRunInfo info;
    WadiError error = { 0 };
    if (wadi_run_info_read(&info, folder, &error) == WADI_OK) { /* else it ended before the first frame */
        assert_true(info.frames >= 1 && info.frames <= 12);
        wadi_run_info_release(&info);
    }
}

/* The page that asked is gone when the recording ends: the next one hears of it. */
static void the_next_page_hears_of_a_recording(void **state)
{
    (void)state;
    char output[600];
    snprintf(output, sizeof output, "%s/quiet.run", scratch);
    begin(NULL, output);
    say("record");
    wadi_view_hub_disconnect(&stand.hub);
    wait_for_record();
    stand.news[0] = '\0';
    turns(2);
    assert_string_equal(stand.news, "");
    wadi_view_hub_connect(&stand.hub, NULL);
    turns(2);
    check_news("quiet.run has the session");
    end();
}

static void pours_that_are_too_large_are_refused(void **state)
{
    (void)state;
    begin(NULL, NULL);
    const size_t before = wadi_sim_particle_count(stand.session.sim);
    say("pour sand 0.2 0.1 0.2 0 0 0 0 0");
    check_news("radius");
    say("pour sand 0.2 0.1 0.2 -1 0 0 0 0");
    check_news("radius");
    say("pour sand 0.2 0.1 0.2 1e8 0 0 0 0");
    check_news("radius");
    assert_int_equal(wadi_sim_particle_count(stand.session.sim), before);
    end();
    /* 64 a cell in a large box: 10 million particles by one message. */
    begin(NULL, NULL);
    scratch_write("box.yaml",
                  "wadi: 1\nname: box\nsolver: sph\ndomain: {min: [0, 0, 0], max: [100, 100, 100]}\n"
                  "cell_size: 0.5\nparticles_per_cell: 64\n"
                  "materials: {sand: {kind: sand}, water: {kind: water}}\n"
                  "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n");
    say("restart");
    assert_int_equal(wadi_sim_particle_count(stand.session.sim), 512);
    say("pour water 50 50 50 17 0 0 0 0"); /* 4/3 pi 17^3 / 0.125^3 = 10.5 million */
    check_news("at most 3 million");
    CHECK_NEAR(strtod(strstr(stand.news, "would be ") + 9, NULL), 10.5, 2.0);
    assert_int_equal(wadi_sim_particle_count(stand.session.sim), 512);
    say("pour water 50 50 50 1e6 0 0 0 0"); /* the whole box */
    check_news("million");
    say("pour water 50 50 50 0.5 0 0 0 0");
    assert_string_equal(stand.news, "");
    const double added = (double)wadi_sim_particle_count(stand.session.sim) - 512.0;
    CHECK_NEAR(added, 4.0 / 3.0 * 3.14159265 * 0.125 / 0.001953125, 40.0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_that_cannot_be_started_leaves_the_present_one),
        cmocka_unit_test(a_step_that_fails_gives_the_state_before_it),
        cmocka_unit_test(a_simulation_that_cannot_be_made_again_can_be_restarted),
        cmocka_unit_test(without_a_simulation_messages_are_answered),
        cmocka_unit_test(missing_memory_is_a_message),
        cmocka_unit_test(a_run_that_vanishes_keeps_its_last_frame),
        cmocka_unit_test(recordings_never_write_over_anything),
        cmocka_unit_test(a_recording_that_is_cut_short_can_be_continued),
        cmocka_unit_test(the_next_page_hears_of_a_recording),
        cmocka_unit_test(pours_that_are_too_large_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
