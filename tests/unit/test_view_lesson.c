/* What the session of the view has for teaching: undo, links, ranges, sums, cells of a cut. No server. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "sim/sim.h"
#include "view_session.h"

#define SCENE(solver)                                                                                        \
    "wadi: 1\nname: box\nsolver: " solver "\ncell_size: 0.05\nframes: 40\nfps: 50\n"                         \
    "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.4]}\n"                                                       \
    "materials: {sand: {kind: sand}, water: {kind: water, density: 1000}}\n"                                 \
    "bodies:\n"                                                                                              \
    "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}\n"                           \
    "colliders: [{name: post, shape: {box: {min: [0.2, 0, 0], max: [0.25, 0.2, 0.2]}}}]\n"

typedef struct Stand {
    WadiViewDef def;
    WadiViewHub hub;
    WadiViewSession session;
    char news[20000], stats[4000], scene[8000], link[4000]; /* the last texts of each kind */
    float low, high;                                        /* of the last picture */
    unsigned char *slice, *stages;                          /* the last ones */
    size_t slice_size, stages_size;
} Stand;

static Stand stand;

static void keep_text(const char *text, size_t size)
{
    static const struct {
        const char *type;
        char *to;
        size_t room;
    } kinds[] = { { "\"type\":\"stats\"", stand.stats, sizeof stand.stats },
                  { "\"type\":\"scene\"", stand.scene, sizeof stand.scene },
                  { "\"type\":\"link\"", stand.link, sizeof stand.link },
                  { "", stand.news, sizeof stand.news } };
    char head[40];
    snprintf(head, sizeof head, "%.*s", (int)(size < 30 ? size : 30), text);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        if (strstr(head, kinds[k].type) != NULL) {
            snprintf(kinds[k].to, kinds[k].room, "%.*s", (int)size, text);
            return;
        }
    }
}

static void drain(void)
{
    WadiViewOut out;
    while (wadi_view_hub_next(&stand.hub, &out)) {
        if (out.picture > 0) {
            const WadiViewMessage ack = { .kind = WADI_VIEW_ACK, .number = (long)out.picture };
            wadi_view_hub_receive(&stand.hub, &ack);
            memcpy(&stand.low, out.data + 36, 4);
            memcpy(&stand.high, out.data + 40, 4);
        } else if (!out.is_binary) {
            keep_text((const char *)out.data, out.size);
        } else if (out.data[0] == 4 || out.data[0] == 5) {
            unsigned char **kept = out.data[0] == 4 ? &stand.slice : &stand.stages;
            size_t *size = out.data[0] == 4 ? &stand.slice_size : &stand.stages_size;
            free(*kept);
            *kept = out.data;
            *size = out.size;
            continue;
        }
        free(out.data);
    }
}

static void turns(int count)
{
    for (int i = 0; i < count; ++i) {
        stand.session.picture_at = stand.session.report_at = 0.0; /* each turn may send a picture and sums */
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

static void begin(const char *text)
{
    WadiError error = { 0 };
    memset(&stand, 0, sizeof stand);
    stand.def = (WadiViewDef){ .scene = wadi_default_scene_def(), .threads = 1, .is_paused = true };
    stand.def.scene.text = text;
    wadi_view_hub_init(&stand.hub);
    wadi_view_session_init(&stand.session, &stand.def, &stand.hub);
    wadi_view_hub_connect(&stand.hub, NULL);
    CHECK_OK(wadi_view_load(&stand.session, &error), error);
    wadi_view_session_begin(&stand.session);
    turns(2);
}

static void end(void)
{
    wadi_view_session_free(&stand.session);
    wadi_view_hub_end(&stand.hub);
    wadi_view_hub_free(&stand.hub);
    free(stand.slice);
    free(stand.stages);
}

static uint64_t hash(void)
{
    return wadi_sim_state_hash(stand.session.sim);
}

static double number_of(const char *text, const char *key)
{
    char pattern[60];
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr(text, pattern);
    assert_non_null(at);
    return strtod(at + strlen(pattern), NULL);
}

static void strokes_are_taken_back_one_by_one_to_the_same_bytes(void **unused)
{
    (void)unused;
    begin(SCENE("flip"));
    say("step");
    uint64_t before[3];
    static const char *const strokes[] = { "pour water 0.32 0.1 0.3 0.05 0 0 -1 0", "dig 0.05 0.1 0.1 0.06",
                                           "set materials.sand.friction_angle=10" };
    for (int i = 0; i < 3; ++i) {
        before[i] = hash();
        say("mark");
        say(strokes[i]);
        say("step");
        say("step");
        assert_true(hash() != before[i]);
        assert_int_equal(number_of(stand.stats, "undo"), i + 1);
    }
    for (int i = 2; i >= 0; --i) {
        say("undo");
        assert_string_equal(stand.news, "");
        assert_true(hash() == before[i]);
    }
    say("undo");
    assert_non_null(strstr(stand.news, "nothing to take back"));
    assert_true(hash() == before[0]);
    /* What was taken back is not in the record either: the sand has its old angle. */
    assert_non_null(strstr(stand.scene, "\"friction_angle\": 35"));
    say("restart");
    say("undo");
    assert_non_null(strstr(stand.news, "nothing to take back"));
    end();
}

static void marks_are_bounded(void **unused)
{
    (void)unused;
    begin(SCENE("points"));
    for (int i = 0; i < 3 * WADI_VIEW_MARKS; ++i) {
        say("mark");
        say("step");
    }
    assert_int_equal(stand.session.marks.count, WADI_VIEW_MARKS);
    for (int i = 0; i < WADI_VIEW_MARKS; ++i) {
        say("undo");
    }
    assert_int_equal(wadi_sim_steps(stand.session.sim), 2 * WADI_VIEW_MARKS);
    assert_int_equal(stand.session.marks.bytes, 0);
    end();
}

/* Says the lines of the "changes" of a link, as the page does. */
static int say_changes(const char *link)
{
    char line[WADI_VIEW_MESSAGE_MAX];
    const char *at = strstr(link, "\"changes\":\"");
    assert_non_null(at);
    int lines = 0;
    for (at += 11; *at != '"' && *at != '\0'; ++lines) {
        size_t length = (size_t)snprintf(line, sizeof line, "change ");
        for (; *at != '"' && strncmp(at, "\\n", 2) != 0; ++at) {
            at += strncmp(at, "\\\"", 2) == 0; /* an escaped quote */
            line[length++] = *at;
        }
        line[length] = '\0';
        at += *at == '\\' ? 2 : 0;
        say(line);
    }
    return lines;
}

static void a_link_makes_the_same_state_again(void **unused)
{
    (void)unused;
    begin(SCENE("flip"));
    say("set gravity=[1, 0, -5]");
    for (int i = 0; i < 4; ++i) {
        say("step");
    }
    say("pour water 0.32 0.1 0.3 0.05 0 0 -1 0");
    say("step");
    say("set materials.sand.cohesion=50"); /* after the last step */
    const uint64_t wanted = hash();
    const int64_t steps = wadi_sim_steps(stand.session.sim);
    say("link");
    assert_int_equal(number_of(stand.link, "steps"), steps);
    char link[sizeof stand.link], reach[40];
    memcpy(link, stand.link, sizeof link);
    say("restart");
    assert_true(hash() != wanted);
    assert_int_equal(say_changes(link), 3);
    snprintf(reach, sizeof reach, "reach %lld", (long long)steps);
    say(reach);
    for (int i = 0; i < 50 && stand.session.reach > 0; ++i) {
        turns(1);
    }
    assert_string_equal(stand.news, "");
    assert_int_equal(wadi_sim_steps(stand.session.sim), steps);
    assert_false(stand.session.is_playing);
    assert_true(hash() == wanted);
    /* A damaged link is a message, and the state is that before the damage. */
    say("restart");
    say("change - {step: 1, nonsense: 3}");
    say("reach 5");
    turns(10);
    assert_non_null(strstr(stand.news, "problem"));
    assert_non_null(strstr(stand.news, "nonsense"));
    assert_int_equal(wadi_sim_steps(stand.session.sim), 1);
    assert_false(stand.session.is_playing);
    assert_int_equal(stand.session.reach, 0);
    end();
}

static void ranges_grow_and_can_be_fixed(void **unused)
{
    (void)unused;
    begin(SCENE("points"));
    say("colour velocity");
    for (int i = 0; i < 6; ++i) {
        say("step"); /* free fall */
    }
    const float grown = stand.high;
    assert_true(grown > 0.0f);
    say("restart");
    say("step");
    say("range 0 3");
    CHECK_NEAR(stand.high, 3.0, 0.0);
    say("step");
    CHECK_NEAR(stand.high, 3.0, 0.0);
    say("range 0 0");
    assert_true(stand.high < 3.0f);
    say("dig 0.05 0.1 0.05 1"); /* nothing is left that moves: the range stays */
    const float before = stand.high;
    say("step");
    CHECK_NEAR(stand.high, before, 0.0);
    end();
}

/* A body of 0.1 x 0.2 x 0.1 m of sand, 1600 kg/m^3, whose middle is 0.05 m high: m g h, and after a free fall
 * of t the kinetic energy m (g t)^2 / 2. */
static void sums_are_those_of_mechanics(void **unused)
{
    (void)unused;
    begin("wadi: 1\nname: box\nsolver: points\ncell_size: 0.05\nframes: 40\nfps: 50\n"
          "domain: {min: [0, 0, -1], max: [0.4, 0.2, 0.4]}\nmaterials: {sand: {kind: sand}}\n"
          "bodies: [{material: sand, jitter: 0, snap: none, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, "
          "0.1]}}}]\n");
    const double mass = 1600 * 0.002;
    CHECK_NEAR(number_of(stand.stats, "mass"), mass, 1e-9);
    CHECK_NEAR(number_of(stand.stats, "potential"), mass * 9.81 * 1.05, 1e-6);
    CHECK_NEAR(number_of(stand.stats, "kinetic"), 0.0, 1e-12);
    CHECK_NEAR(number_of(stand.stats, "volume"), 0.002, 1e-9);
    const double start = number_of(stand.stats, "potential");
    for (int i = 0; i < 5; ++i) {
        say("step");
    }
    const double speed = 9.81 * wadi_sim_time(stand.session.sim);
    CHECK_NEAR(number_of(stand.stats, "kinetic"), 0.5 * mass * speed * speed, 1e-4 * mass * speed * speed);
    CHECK_NEAR(number_of(stand.stats, "kinetic") + number_of(stand.stats, "potential"), start, 0.02 * start);
    end();
}

/* The sand is in two by two cells of the cut across y, the post in one by four, and falls with the others. */
static void cells_of_a_cut_have_their_types_and_velocities(void **unused)
{
    (void)unused;
    begin(SCENE("points"));
    assert_null(stand.slice);
    say("slice 1 0.5");
    assert_non_null(stand.slice);
    uint32_t head[4];
    double reals[4];
    memcpy(head, stand.slice, sizeof head);
    memcpy(reals, stand.slice + 16, sizeof reals);
    assert_int_equal(head[1], 1);
    assert_int_equal(head[2], 8);
    assert_int_equal(head[3], 8);
    CHECK_NEAR(reals[0], 0.0, 1e-12);
    CHECK_NEAR(reals[1], 0.125, 1e-12);
    CHECK_NEAR(reals[3], 0.05, 1e-12);
    assert_int_equal(stand.slice_size, 48 + 64 + 8 * 64);
    for (int n = 0; n < 64; ++n) {
        const int x = n % 8, z = n / 8;
        const int expected = x < 2 && z < 2    ? WADI_VIEW_SAND
                             : x == 4 && z < 4 ? WADI_VIEW_SOLID
                                               : WADI_VIEW_AIR;
        assert_int_equal(stand.slice[48 + n], expected);
    }
    for (int i = 0; i < 2; ++i) {
        say("set gravity=[0, 0, 2]"); /* upwards */
        say("step");
    }
    float velocity[2];
    memcpy(velocity, stand.slice + 48 + 64, sizeof velocity);
    CHECK_NEAR(velocity[0], 0.0, 1e-6);
    CHECK_NEAR(velocity[1], 2.0 * wadi_sim_time(stand.session.sim), 1e-5);
    free(stand.slice);
    stand.slice = NULL;
    say("slice 3 0");
    say("step");
    assert_null(stand.slice);
    end();
}

enum { TANK_CELLS = 64, STAGE_BYTES = 32 + 8 * TANK_CELLS };

/* Upward velocity of cell n after the stage of that name in the message of a step. */
static double upward_after(const char *name, int n)
{
    uint32_t count;
    memcpy(&count, stand.stages + 48, sizeof count);
    assert_int_equal(stand.stages_size, 56 + TANK_CELLS + count * STAGE_BYTES);
    for (uint32_t s = 0; s < count; ++s) {
        const unsigned char *at = stand.stages + 56 + TANK_CELLS + s * STAGE_BYTES;
        if (strcmp((const char *)at, name) == 0) {
            float velocity[2];
            memcpy(velocity, at + 32 + 8 * n, sizeof velocity);
            return (double)velocity[1];
        }
    }
    fail_msg("no stage '%s'", name);
    return 0.0;
}

/* A tank of water at rest: its grid begins at rest, gravity gives all cells g times the step, and pressure
 * takes all of it away. */
static void stages_show_what_they_do_to_the_grid(void **unused)
{
    (void)unused;
    begin("wadi: 1\nname: tank\nsolver: flip\ncell_size: 0.05\nframes: 40\nfps: 50\n"
          "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.4]}\nmaterials: {water: {kind: water}}\n"
          "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.4, 0.2, 0.3]}}}]\n");
    say("stages");
    assert_string_equal(stand.news, "");
    assert_int_equal(wadi_sim_steps(stand.session.sim), 1);
    const double dt = wadi_sim_time(stand.session.sim);
    double pulled = 0.0;
    for (int n = 9; n < 15; ++n) { /* the second row from below, without its ends */
        CHECK_NEAR(upward_after("sort", n), 0.0, 1e-9);
        CHECK_NEAR(upward_after("particles to grid", n), 0.0, 1e-6);
        pulled = upward_after("forces", n);
        assert_true(pulled < 0.0 && pulled >= -9.81 * dt * (1 + 1e-6) && pulled <= -0.49 * 9.81 * dt);
        CHECK_NEAR(upward_after("forces", 9), pulled, 1e-6);
        CHECK_NEAR(upward_after("pressure", n), 0.0, 0.02 * fabs(pulled));
    }
    /* The walk does not change the step. */
    const uint64_t walked = hash();
    say("restart");
    say("step");
    assert_true(hash() == walked);
    end();
    begin(SCENE("points"));
    say("stages");
    assert_non_null(stand.stages);
    end();
}

/* Of dry sand the page has no wetness; water that is poured beside it brings it. */
static void wetness_is_offered_once_water_can_be_there(void **unused)
{
    (void)unused;
    begin("wadi: 1\nname: box\nsolver: sph\ncell_size: 0.05\nframes: 40\nfps: 50\n"
          "domain: {min: [0, 0, 0], max: [0.4, 0.2, 0.4]}\nmaterials: {sand: {kind: sand}}\n"
          "bodies: [{material: sand, shape: {box: {min: [0, 0, 0], max: [0.1, 0.2, 0.1]}}}]\n");
    const bool was_there = strstr(stand.scene, "\"wetness\"") != NULL;
    stand.scene[0] = '\0';
    say("pour view_water 0.3 0.1 0.3 0.05 0 0 -1 0");
    say("step");
    assert_string_equal(stand.news, "");
    assert_true(was_there || strstr(stand.scene, "\"wetness\"") != NULL);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strokes_are_taken_back_one_by_one_to_the_same_bytes),
        cmocka_unit_test(marks_are_bounded),
        cmocka_unit_test(a_link_makes_the_same_state_again),
        cmocka_unit_test(ranges_grow_and_can_be_fixed),
        cmocka_unit_test(sums_are_those_of_mechanics),
        cmocka_unit_test(cells_of_a_cut_have_their_types_and_velocities),
        cmocka_unit_test(stages_show_what_they_do_to_the_grid),
        cmocka_unit_test(wetness_is_offered_once_water_can_be_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
