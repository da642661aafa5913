#include "world/scene.h"

#include <stdio.h>
#include <string.h>

double wadi_scene_frame_time(const WadiScene *scene, int frame)
{
    return (double)(frame - 1) / scene->fps;
}

/* Endings that other files add to a material's name: ".particles" in exports, ".s500" for half a frame in
 * surfaces. */
static bool is_reserved_ending(const char *ending)
{
    return strcmp(ending, ".particles") == 0 ||
           (strncmp(ending, ".s", 2) == 0 && strlen(ending) == 5 && strspn(ending + 2, "0123456789") == 3);
}

/* Names that exports give to the meshes of solids, followed by a number. */
static bool is_solid_name(const char *name)
{
    static const char *const starts[] = { "collider.", "wall.", "solid." };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i) {
        size_t length = strlen(starts[i]);
        if (strncmp(name, starts[i], length) == 0 && name[length] != '\0' &&
            name[length + strspn(name + length, "0123456789")] == '\0') {
            return true;
        }
    }
    return false;
}

int wadi_scene_name_clash(const WadiScene *scene, char *text, size_t size)
{
    for (int m = 0; m < scene->material_count; ++m) {
        const char *name = scene->materials[m].name;
        if (name != NULL && is_solid_name(name)) {
            snprintf(text, size, "the meshes of solids are called so in exports; choose another name");
            return m;
        }
        for (int other = 0; other < scene->material_count && name != NULL; ++other) {
            const char *first = scene->materials[other].name;
            size_t length = first != NULL ? strlen(first) : 0;
            if (other != m && length > 0 && strncmp(name, first, length) == 0 &&
                is_reserved_ending(name + length)) {
                snprintf(
                    text, size,
                    "files of this material and of '%.100s' would have the same names; choose another name",
                    first);
                return m;
            }
        }
    }
    return -1;
}

bool wadi_scene_has_sand(const WadiScene *scene)
{
    bool has_sand = false;
    for (int m = 0; m < scene->material_count; ++m) {
        has_sand =
            has_sand || (scene->materials[m].kind == WADI_MATERIAL_SAND && !scene->materials[m].is_unused);
    }
    return has_sand;
}
