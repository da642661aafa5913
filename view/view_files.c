#include "view_files.h"

#include <string.h>

bool wadi_view_files_are_there(void)
{
    return wadi_view_file_count > 0;
}

const WadiViewFile *wadi_view_file_find(const char *path)
{
    const char *wanted = strcmp(path, "/") == 0 ? "/index.html" : path;
    for (size_t i = 0; i < wadi_view_file_count; ++i) {
        if (strcmp(wadi_view_files[i].path, wanted) == 0) {
            return &wadi_view_files[i];
        }
    }
    return NULL;
}
