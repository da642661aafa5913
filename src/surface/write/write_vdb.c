#include "surface/write/write_vdb.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "surface/write/vdb_module.h"
#include "wadi/base.h"

#ifndef WADI_MODULE_FOLDER
#define WADI_MODULE_FOLDER "../lib/wadi"
#endif

enum { UUID_OFFSET = 21, UUID_LENGTH = 36 }; /* after the magic number, three version numbers and a flag */

/* Loaded once: OpenVDB cannot be unloaded. NULL when missing. */
typedef struct Module {
    WadiVdbWrite *write;
} Module;

static Module module;
static pthread_once_t module_once = PTHREAD_ONCE_INIT;

static bool load_from(const char *folder, const char *relative)
{
    char path[WADI_PATH_SIZE];
    if (snprintf(path, sizeof path, "%s/%s", folder, relative) >= (int)sizeof path) {
        return false;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return false;
    }
    /* POSIX guarantees that a function pointer fits into the result of dlsym; C does not, hence the copy. */
    void *write = dlsym(library, WADI_VDB_WRITE);
    if (write == NULL) {
        dlclose(library);
        return false;
    }
    memcpy(&module.write, &write, sizeof module.write);
    return true;
}

/* Searches next to the program or library that contains this code, and where an installed one has the
 * module. */
static void load_module(void)
{
    /* "../..": from glibc-hwcaps/x86-64-v3, the folder of the library for newer processors. */
    static const char installed[] = WADI_MODULE_FOLDER "/wadi_vdb.so";
    static const char *const candidates[] = { "wadi_vdb.so", "../wadi_vdb.so",    "wadi/wadi_vdb.so",
                                              installed,     "../../wadi_vdb.so", "../../wadi/wadi_vdb.so" };
    char folder[WADI_PATH_SIZE];
    Dl_info info;
    if (dladdr(&module_once, &info) != 0 && info.dli_fname != NULL && info.dli_fname[0] == '/') {
        snprintf(folder, sizeof folder, "%s", info.dli_fname);
    } else {
        /* For a program dladdr gives the name it was started with. */
        ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
        folder[length > 0 ? length : 0] = '\0';
    }
    char *end = strrchr(folder, '/');
    if (end == NULL) {
        return;
    }
    *end = '\0';
    for (size_t w = 0; w < sizeof candidates / sizeof *candidates && module.write == NULL; ++w) {
        load_from(folder, candidates[w]);
    }
}

WadiStatus wadi_surface_vdb_check(WadiError *error)
{
    pthread_once(&module_once, load_module);
    if (module.write == NULL) {
        return wadi_fail(
            error, WADI_ERR_UNSUPPORTED,
            "this wadi has no module wadi_vdb.so for OpenVDB; install OpenVDB (Debian: libopenvdb-dev, "
            "with a C++ compiler) and build again, or take the format ply");
    }
    return WADI_OK;
}

static void key_text(uint64_t key, char text[24])
{
    snprintf(text, 24, "%016" PRIx64, key);
}

/* OpenVDB puts a random UUID into every file; replace it, so that the bytes depend on the field alone. */
static WadiStatus finish(WadiFileWriter *writer, uint64_t key, WadiError *error)
{
    char uuid[UUID_LENGTH + 1];
    snprintf(uuid, sizeof uuid, "%08x-%04x-4000-8000-%012" PRIx64, (unsigned)(key >> 32),
             (unsigned)(key >> 16 & 0xffff), key & UINT64_C(0xffffffffffff));
    WADI_TRY(wadi_file_writer_put(writer, uuid, UUID_LENGTH, UUID_OFFSET, error));
    return wadi_file_writer_commit(writer, error);
}

static WadiStatus write_rows(const char *path, const WadiVdbRows *rows, const WadiMeshFileInfo *info,
                             WadiError *error)
{
    char key[24], problem[WADI_VDB_TEXT_SIZE];
    key_text(info->key, key);
    WadiVdbFacts facts = { .wadi = wadi_version(),
                           .material = info->material,
                           .key = key,
                           .frame = info->frame,
                           .subframe = info->subframe,
                           .time = info->time,
                           .fps = info->fps };
    WadiFileWriter writer;
    WADI_TRY(wadi_file_writer_open(&writer, path, error));
    if (module.write(writer.temporary, rows, &facts, problem) != 0) {
        wadi_file_writer_cancel(&writer);
        return wadi_fail(error, WADI_ERR_IO, "cannot write %s: %s", path, problem);
    }
    return finish(&writer, info->key, error);
}

WadiStatus wadi_surface_write_vdb(const char *path, const WadiField *field, const WadiMeshFileInfo *info,
                                  WadiError *error)
{
    WADI_TRY(wadi_surface_vdb_check(error));
    /* Row 0 is the null row; an empty field has none at all. */
    size_t count = field->rows.count > 0 ? (size_t)field->rows.count - 1 : 0;
    WadiVdbRow *row = NULL;
    WADI_TRY(WADI_NEW(&row, count, "rows of a VDB file", error));
    for (size_t r = 0; r < count; ++r) {
        wadi_rows_cell(&field->rows, (int32_t)r + 1, row[r].node);
        row[r].value = field->value + WADI_ROW_CELLS * (r + 1);
    }
    WadiStatus status = write_rows(path, &(WadiVdbRows){ field->cell, count, row }, info, error);
    WADI_DELETE(row, count);
    return status;
}

/* Searches the file's head for the metadatum: name, type and value, each preceded by its length. Does not
 * call OpenVDB, which allocates gigabytes for a damaged length. */
bool wadi_surface_vdb_has_key(const char *path, uint64_t key)
{
    static const char before[] = "\3\0\0\0key\6\0\0\0string\x10\0\0\0";
    char wanted[sizeof before - 1 + 24], head[WADI_FILE_HEAD];
    memcpy(wanted, before, sizeof before - 1);
    key_text(key, wanted + sizeof before - 1);
    size_t length = sizeof before - 1 + strlen(wanted + sizeof before - 1);
    int fd = -1;
    if (wadi_file_open_regular(path, &fd, NULL) != WADI_OK) {
        return false;
    }
    ssize_t size = read(fd, head, sizeof head);
    close(fd);
    return size > 0 && memmem(head, (size_t)size, wanted, length) != NULL;
}
