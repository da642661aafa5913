#include "surface/write/mesh_file.h"

#include <inttypes.h>
#include <stdio.h>

#include "io/files/files.h"

static void append_line(WadiText *text, const char *mark, const char *name, double value)
{
    wadi_text_printf(text, "%s%s ", mark, name);
    wadi_text_append_number(text, value);
    wadi_text_append(text, "\n");
}

void wadi_mesh_file_comments(WadiText *text, const WadiMeshFileInfo *info, const char *mark)
{
    wadi_text_printf(text, "%swadi %s\n%smaterial %s\n%sframe %d\n", mark, wadi_version(), mark,
                     info->material, mark, info->frame);
    append_line(text, mark, "subframe", info->subframe);
    append_line(text, mark, "time", info->time);
    append_line(text, mark, "fps", info->fps);
    wadi_text_printf(text, "%sup %c\n%sunit metre\n%skey %016" PRIx64 "\n", mark, info->is_y_up ? 'y' : 'z',
                     mark, mark, info->key);
}

bool wadi_mesh_file_has_key(const char *path, uint64_t key)
{
    char line[32];
    snprintf(line, sizeof line, " key %016" PRIx64 "\n", key);
    return wadi_file_head_has(path, line);
}
