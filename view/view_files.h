/* The files of the page, which are part of the program. */
#ifndef WADI_VIEW_FILES_H
#define WADI_VIEW_FILES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct WadiViewFile {
    const char *path; /* "/app.js" */
    const char *type;
    const unsigned char *data;
    size_t size;
} WadiViewFile;

/* Made by the build of web/; a build without npm has none. */
extern const WadiViewFile wadi_view_files[];
extern const size_t wadi_view_file_count;

bool wadi_view_files_are_there(void);
/* The file of that path, and no other: nothing is looked up on a disk. NULL: none. */
const WadiViewFile *wadi_view_file_find(const char *path);

#endif
