/* Every scene of tests/golden/bad_scenes is rejected with exactly the text in the .txt file. WADI_BLESS=1
 * rewrites the texts. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "expect.h"
#include "io/files/files.h"
#include "io/scene/scene_parse.h"

#define FOLDER WADI_SOURCE_DIR "/tests/golden/bad_scenes"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void bad_scenes_are_refused_with_their_message(void **unused)
{
    (void)unused;
    enum { MOST = 400 };
    char *names[MOST];
    int count = 0, wrong = 0;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && count < MOST;) {
        if (strstr(entry->d_name, ".yaml") != NULL) {
            names[count++] = strdup(entry->d_name);
        }
    }
    closedir(folder);
    qsort(names, (size_t)count, sizeof(char *), by_name);
    assert_true(count >= 150);

    const char *bless = getenv("WADI_BLESS");
    for (int i = 0; i < count; ++i) {
        char path[1024], expected_path[1024];
        WadiError error = { 0 };
        snprintf(path, sizeof path, "%s/%s", FOLDER, names[i]);
        snprintf(expected_path, sizeof expected_path, "%s/%.*s.txt", FOLDER, (int)strlen(names[i]) - 5,
                 names[i]);
        char *bytes, *expected;
        size_t size, expected_size;
        CHECK_OK(wadi_file_read(path, 1 << 26, &bytes, &size, &error), error);

        size_t before = wadi_alloc_live_bytes();
        WadiScene *scene = NULL;
        /* As a text under its bare name: messages do not depend on the folder of the tree. */
        WadiSceneDef def = { .path = names[i], .text = bytes, .text_length = size, .folder = "scenes" };
        WadiStatus status = wadi_scene_parse(&scene, &def, &error);
        assert_null(scene);
        assert_int_equal(status, WADI_ERR_SCENE);
        assert_int_equal(wadi_alloc_live_bytes(), before);
        wadi_free(bytes, size + 1, 1);

        char actual[WADI_ERROR_TEXT_SIZE + 2];
        snprintf(actual, sizeof actual, "%s\n", error.text);
        if (bless != NULL) {
            CHECK_OK(wadi_file_write(expected_path, actual, strlen(actual), &error), error);
        }
        CHECK_OK(wadi_file_read(expected_path, 1 << 20, &expected, &expected_size, &error), error);
        if (strcmp(actual, expected) != 0) {
            print_error("%s: expected\n%sfound\n%s", names[i], expected, actual);
            ++wrong;
        }
        wadi_free(expected, expected_size + 1, 1);
        free(names[i]);
    }
    assert_int_equal(wrong, 0);
}

static WadiStatus parse_file(const char *path, WadiError *error)
{
    WadiScene *scene = NULL;
    WadiSceneDef def = { .path = path };
    WadiStatus status = wadi_scene_parse(&scene, &def, error);
    wadi_scene_free(scene);
    return status;
}

static void files_that_cannot_be_read_are_named(void **unused)
{
    (void)unused;
    WadiError error = { 0 };
    assert_int_equal(parse_file("/nonexistent/pile.yaml", &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "/nonexistent/pile.yaml"));
    assert_non_null(strstr(error.text, "No such file"));

    char folder[] = "/tmp/wadi_scene_XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(parse_file(folder, &error), WADI_ERR_IO);
    assert_non_null(strstr(error.text, "is a folder, not a scene file"));

    char path[200];
    snprintf(path, sizeof path, "%s/large.yaml", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fseek(file, (16 << 20) + 1, SEEK_SET), 0);
    fputc('\n', file);
    fclose(file);
    assert_int_not_equal(parse_file(path, &error), WADI_OK);
    assert_non_null(strstr(error.text, "large.yaml"));
    unlink(path);

    /* A mesh that is a folder, and one without read permission (only for users other than root, who may read
     * everything). */
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    char secret[200], text[1000];
    snprintf(secret, sizeof secret, "%s/secret.obj", folder);
    file = fopen(secret, "wb");
    assert_non_null(file);
    fclose(file);
    chmod(secret, 0);
    snprintf(text, sizeof text,
             "wadi: 1\nsolver: points\ncell_size: 0.1\nmaterials: {sand: {kind: sand}}\nbodies:\n"
             "  - {material: sand, shape: {mesh: {file: .}}}\n"
             "  - {material: sand, shape: {mesh: {file: secret.obj}}}\n"
             "  - {material: sand, shape: {mesh: {file: absent.obj}}}\n");
    CHECK_OK(wadi_file_write(path, text, strlen(text), &error), error);
    assert_int_equal(parse_file(path, &error), WADI_ERR_SCENE);
    char expected[400];
    snprintf(expected, sizeof expected, "%s:6:43: bodies[0].shape.mesh.file: %s/.: is a folder, not a file",
             path, folder);
    assert_non_null(strstr(error.text, expected));
    snprintf(expected, sizeof expected, "%s:8:43: bodies[2].shape.mesh.file: %s/absent.obj: no such file",
             path, folder);
    assert_non_null(strstr(error.text, expected));
    if (geteuid() != 0) {
        assert_non_null(strstr(error.text, "secret.obj: Permission denied"));
    }
    unlink(secret);
    unlink(path);
    rmdir(folder);
}

static void a_large_text_is_refused_before_it_is_parsed(void **unused)
{
    (void)unused;
    size_t size = (16 << 20) + 1;
    char *text = malloc(size);
    memset(text, ' ', size);
    WadiError error = { 0 };
    WadiScene *scene = NULL;
    WadiSceneDef def = { .text = text, .text_length = size };
    assert_int_equal(wadi_scene_parse(&scene, &def, &error), WADI_ERR_SCENE);
    assert_string_equal(error.text, "<text>: the scene has 16.0 MiB; at most 16 MiB are read");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_scenes_are_refused_with_their_message),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(a_large_text_is_refused_before_it_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
