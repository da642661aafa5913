/* The states of small scenes of every solver are bit for bit those of tests/golden/states/hashes.txt,
 * whatever the compiler and the number of threads: a change of results is always seen. WADI_BLESS=1 rewrites
 * the file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/text.h"
#include "io/files/files.h"
#include "scene_sim.h"
#include "world/scene.h"

#define FOLDER WADI_SOURCE_DIR "/tests/golden/states/"

static const char head[] = "# scene, content_hash, state_hash of frame 1, state_hash of its last frame\n";
static const char *const names[] = { "water",    "sand",         "mixed",     "viscous",
                                     "mesh",     "points",       "sph_water", "sph_dry",
                                     "sph_wet",  "sph_adaptive", "sph_ld09",  "sph_t10",
                                     "dem_full", "dem_bodies",   "dem_flow",  "dem_field" };
static const int thread_counts[] = { 1, 2, 5 };

static void append_states(WadiText *text, const char *name, int threads)
{
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s.yaml", name);
    WadiError error = { 0 };
    WadiSceneDef def = wadi_default_scene_def();
    def.path = path;
    WadiScene *scene = NULL;
    CHECK_OK(wadi_scene_load(&scene, &def, &error), error);
    WadiSim *sim = start_sim(scene, threads);
    wadi_text_printf(text, "%s %016" PRIx64 " %016" PRIx64, name, scene->content_hash,
                     wadi_sim_state_hash(sim));
    run_frames(sim, wadi_scene_frames(scene) - 1);
    wadi_text_printf(text, " %016" PRIx64 "\n", wadi_sim_state_hash(sim));
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
}

/* The lines that are not on record. */
static void print_changes(const char *record, const char *now)
{
    for (const char *line = now; *line != '\0';) {
        const size_t length = strcspn(line, "\n") + 1;
        char text[256];
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        if (strstr(record, text) == NULL) {
            print_error("not on record: %s", text);
        }
        line += length;
    }
}

static void states_are_those_on_record(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    WadiText text = { 0 };
    wadi_text_append(&text, head);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        append_states(&text, names[i], thread_counts[i % 3]);
    }
    CHECK_OK(wadi_text_status(&text, &error), error);
    if (getenv("WADI_BLESS") != NULL) {
        CHECK_OK(wadi_file_write(FOLDER "hashes.txt", text.data, text.length, &error), error);
    }
    char *record;
    size_t size;
    CHECK_OK(wadi_file_read(FOLDER "hashes.txt", 1 << 16, &record, &size, &error), error);
    if (strcmp(record, text.data) != 0) {
        print_changes(record, text.data);
        fail_msg("If the change is meant: WADI_BLESS=1 ctest --test-dir build -R test_states");
    }
    wadi_free(record, size + 1, 1);
    wadi_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(states_are_those_on_record) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
