/* What a command wrote into a folder: FOLDER/.wadi-files has size and hash of every file, so that a file is kept only when it is
 * proved whole. Text, appended to and never rewritten: a kill loses the last entry at most, and processes may share the folder.
 *   begun NAME
 *   made KEY COUNT
 *    HASH SIZE NAME        (COUNT lines)
 *   end KEY */
#ifndef WADI_IO_OUTPUT_INDEX_H
#define WADI_IO_OUTPUT_INDEX_H

#include "core/array.h"
#include "io/files/file_copy.h"
#include "io/files/files.h"

/* Names of files in one folder. */
typedef struct WadiFileNames {
    WADI_ARRAY(char *) list; /* owned */
} WadiFileNames;
/* The last component of the path. */
WadiStatus wadi_file_names_add(WadiFileNames *names, const char *path, WadiError *error);
void wadi_file_names_free(WadiFileNames *names);

typedef struct WadiOutputFile {
    WadiFileDigest digest;
    const char *name; /* in the text */
} WadiOutputFile;

/* Files that were made together. */
typedef struct WadiOutputGroup {
    uint64_t key;
    size_t first, count; /* in `files` */
} WadiOutputGroup;

/* Immutable once open, so that threads may share it. */
typedef struct WadiOutputIndex {
    char folder[WADI_PATH_SIZE];
    int fd;         /* of the index, with a shared lock while it is open; -1: closed */
    bool was_alone; /* no other process had it open */
    char *text;
    size_t size;
    WADI_ARRAY(WadiOutputFile) files;
    WADI_ARRAY(WadiOutputGroup) groups;
    WADI_ARRAY(const char *) begun; /* names, in the text */
} WadiOutputIndex;

/* Make the folder where needed and read its index. When no other process has it open, temporary files that a killed one left are
 * removed. After a failure there is nothing to close. */
WadiStatus wadi_output_index_open(WadiOutputIndex *index, const char *folder, WadiError *error);
void wadi_output_index_close(WadiOutputIndex *index);

/* Whether `path` was made with this key, and it and all that was made with it are there as they were written. `is_editable`: a person
 * may have changed `path`; then its key and its last line (wadi_output_end_line) must be there. */
bool wadi_output_index_has(const WadiOutputIndex *index, const char *path, uint64_t key, bool is_editable);
/* Record files that were made together, once they are in their places. */
WadiStatus wadi_output_index_add(const WadiOutputIndex *index, const WadiFileNames *names, uint64_t key,
                                 WadiError *error);
WadiStatus wadi_output_index_add_file(const WadiOutputIndex *index, const char *path, uint64_t key,
                                      WadiError *error);
/* Before a file is written: WADI_ERR_ARGUMENT when `path` is there and wadi did not write it, since it would be replaced. The index
 * lists the file from now on, because a kill may leave it there. */
WadiStatus wadi_output_index_claim(const WadiOutputIndex *index, const char *path, WadiError *error);

/* The words of the last line of a file that a person may change. */
enum { WADI_OUTPUT_END_SIZE = 40 };
void wadi_output_end_line(uint64_t key, char text[WADI_OUTPUT_END_SIZE]);

/* Remove files of `folder` with temporary names that lead to one of these endings (NULL-ended). */
WadiStatus wadi_output_remove_temporaries(const char *folder, const char *const *wanted, WadiError *error);

#endif
