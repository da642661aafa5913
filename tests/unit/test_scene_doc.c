/* docs/scene-reference.md and docs/scene.schema.json are equal to what the table generates. WADI_BLESS=1
 * rewrites them. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/alloc.h"
#include "expect.h"
#include "io/files/files.h"
#include "io/scene/scene_schema.h"

static void check_file(const char *path, void (*generate)(WadiText *text))
{
    WadiError error = { 0 };
    WadiText text = { 0 };
    generate(&text);
    CHECK_OK(wadi_text_status(&text, &error), error);
    if (getenv("WADI_BLESS") != NULL) {
        CHECK_OK(wadi_folder_make(WADI_SOURCE_DIR "/docs", &error), error);
        CHECK_OK(wadi_file_write(path, text.data, text.length, &error), error);
    }
    char *bytes;
    size_t size;
    CHECK_OK(wadi_file_read(path, 1 << 24, &bytes, &size, &error), error);
    if (strcmp(bytes, text.data) != 0) {
        print_error("%s is not what the table says; run this test with WADI_BLESS=1\n", path);
        fail();
    }
    wadi_free(bytes, size + 1, 1);
    wadi_text_free(&text);
}

static void the_reference_page_is_current(void **unused)
{
    (void)unused;
    check_file(WADI_SOURCE_DIR "/docs/scene-reference.md", wadi_scene_reference_markdown);
}

static void the_json_schema_is_current(void **unused)
{
    (void)unused;
    check_file(WADI_SOURCE_DIR "/docs/scene.schema.json", wadi_scene_schema_json);
}

static void check_object(const WadiSceneObject *object)
{
    assert_true(object->field_count > 0 && object->field_count <= WADI_SCENE_FIELD_MAX);
    for (int i = 0; i < object->field_count; ++i) {
        const WadiSceneField *field = &object->fields[i];
        assert_ptr_equal(wadi_scene_field(object, field->key), field); /* written once */
        assert_non_null(field->doc);
        assert_int_equal(field->doc[strlen(field->doc) - 1], '.');
        bool is_number = field->type == WADI_SCENE_NUMBER || field->type == WADI_SCENE_INT ||
                         field->type == WADI_SCENE_WHOLE || field->type == WADI_SCENE_VEC3 ||
                         field->type == WADI_SCENE_CURVE1 || field->type == WADI_SCENE_CURVE3;
        if (is_number && field->maximum < field->minimum) {
            print_error("%s.%s has no range\n", object->name, field->key);
            fail();
        }
        assert_true(!is_number || field->maximum != 0.0);
        bool is_choice = field->type == WADI_SCENE_ENUM || field->type == WADI_SCENE_BITS_OFF;
        assert_true(!is_choice || field->choices != NULL);
        if (field->type == WADI_SCENE_KIND && field->object != NULL) {
            check_object(field->object);
        }
    }
}

static void every_key_of_the_table_is_complete(void **unused)
{
    (void)unused;
    int count;
    const WadiSceneObject *const *objects = wadi_scene_objects(&count);
    for (int i = 0; i < count; ++i) {
        assert_true(strlen(objects[i]->doc) > 0);
        check_object(objects[i]);
    }
}

static void the_json_schema_tells_good_scenes_from_bad(void **unused)
{
    (void)unused;
    /* The Python environment that tools/setup.sh prepares. */
    int result =
        system("${PYTHON:-python3} " WADI_SOURCE_DIR "/tests/check_scene_schema.py > /dev/null 2>&1");
    if (WIFEXITED(result) && (WEXITSTATUS(result) == 77 || WEXITSTATUS(result) == 127)) {
        print_message("skipped: python3 with jsonschema and yaml is needed\n");
        skip();
    }
    assert_int_equal(result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_page_is_current),
        cmocka_unit_test(the_json_schema_is_current),
        cmocka_unit_test(the_json_schema_tells_good_scenes_from_bad),
        cmocka_unit_test(every_key_of_the_table_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
