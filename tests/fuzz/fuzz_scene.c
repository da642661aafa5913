/* Any bytes as a scene: no crash, no leak, no file touched. What precedes a zero byte is an override.
 * A scene that reads must read again from its `source` and mean the same. */
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/check.h"
#include "io/scene/scene_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libfyaml 0.7.12 loses the buffer of a quoted scalar (some kilobytes) that ends in a syntax error. Our own
 * memory is counted below. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfyaml.so";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t before = wadi_alloc_live_bytes();
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t set_length = zero != NULL ? (size_t)(zero - data) : 0;
    char *set = NULL;
    if (zero != NULL) {
        set = malloc(set_length + 1);
        memcpy(set, data, set_length + 1);
        data = zero + 1;
        size -= set_length + 1;
    }
    char *text = malloc(size + 1);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';

    const char *sets[1] = { set };
    WadiSceneDef def = { .path = "fuzz.yaml",
                         .text = text,
                         .text_length = size,
                         .folder = "/nonexistent",
                         .sets = sets,
                         .set_count = set != NULL };
    WadiError error = { 0 };
    WadiScene *scene = NULL, *again = NULL;
    WadiStatus status = wadi_scene_parse(&scene, &def, &error);
    WADI_ASSERT((status == WADI_OK) == (scene != NULL));
    WADI_ASSERT(status == WADI_OK || error.text[0] != '\0');
    if (scene != NULL) {
        WadiSceneDef source = { .path = "fuzz.yaml", .text = scene->source, .folder = "/nonexistent" };
        WADI_ASSERT(wadi_scene_parse(&again, &source, &error) == WADI_OK);
        WADI_ASSERT(again->content_hash == scene->content_hash);
        WADI_ASSERT(strcmp(again->name, scene->name) == 0 && again->frames == scene->frames);
    }
    wadi_scene_free(again);
    wadi_scene_free(scene);
    free(text);
    free(set);
    WADI_ASSERT(wadi_alloc_live_bytes() == before);
    return 0;
}
