/* Record of what a command wrote into a folder: FOLDER/.wadi-files lists size and hash of every file, so that
 * a file is reused only when it is verified to be complete. The text is only appended to: a killed process
 * loses at most its last entry, and several processes may use the folder.
 *   begun NAME
 *   made KEY COUNT
 *    HASH SIZE NAME        (COUNT lines)
 *   end KEY */
#ifndef WADI_IO_OUTPUT_INDEX_H
#define WADI_IO_OUTPUT_INDEX_H

#include "core/array.h"
#include "io/files/file_copy.h"
#include "io/run/output_lock.h"

/* Names of files in one folder. */
typedef struct WadiFileNames {
    WADI_ARRAY(char *) list; /* owned */
} WadiFileNames;
/* Adds the last component of the path. */
WadiStatus wadi_file_names_add(WadiFileNames *names, const char *path, WadiError *error);
void wadi_file_names_free(WadiFileNames *names);

typedef struct WadiOutputFile {
    WadiFileDigest digest;
    const char *name; /* points into `text` */
} WadiOutputFile;

/* Files that were made together. */
typedef struct WadiOutputGroup {
    uint64_t key;
    size_t first, count; /* range in `files` */
} WadiOutputGroup;

/* Immutable between open and refresh, so that threads may share it. */
typedef struct WadiOutputIndex {
    char folder[WADI_PATH_SIZE];
    int fd; /* of the index; -1: closed */
    WadiOutputLock lock;
    char *text; /* of the file, cut into lines */
    size_t size;
    bool ends_in_line; /* with a complete one */
    WADI_ARRAY(WadiOutputFile) files;
    WADI_ARRAY(WadiOutputGroup) groups;
    WADI_ARRAY(const char *) begun; /* names; point into `text` */
} WadiOutputIndex;

/* Creates the folder where needed, enters it (WADI_ERR_BUSY: see wadi_output_lock_enter) and reads its index.
 * When no other process works there, temporary files of killed processes are removed: those of files that the
 * index lists and, where `beside` is not NULL, videos and sheets in that folder. After a failure there is
 * nothing to close. */
WadiStatus wadi_output_index_open(WadiOutputIndex *index, const WadiOutputWork *work, const char *beside,
                                  WadiError *error);
void wadi_output_index_close(WadiOutputIndex *index);
/* Reads what other processes added. */
WadiStatus wadi_output_index_refresh(WadiOutputIndex *index, WadiError *error);

/* Whether `path` was made with this key, and all files made together with it exist unchanged. `is_editable`:
 * the user may have changed `path`; then only its key and its last line (wadi_output_end_line) are
 * compared. */
bool wadi_output_index_has(const WadiOutputIndex *index, const char *path, uint64_t key, bool is_editable);
/* Records files that were made together, after they have their final names. */
WadiStatus wadi_output_index_add(const WadiOutputIndex *index, const WadiFileNames *names, uint64_t key,
                                 WadiError *error);
WadiStatus wadi_output_index_add_file(const WadiOutputIndex *index, const char *path, uint64_t key,
                                      WadiError *error);
/* To be called before a file is written. WADI_ERR_ARGUMENT when `path` exists and wadi did not write it. The
 * index lists the file from then on, because a killed process may leave it there. */
WadiStatus wadi_output_index_claim(const WadiOutputIndex *index, const char *path, WadiError *error);
/* The same for a file that no index lists: what was written by wadi names it near its beginning. */
WadiStatus wadi_output_check_foreign(const char *path, WadiError *error);

/* Text of the last line of a file that the user may edit. */
enum { WADI_OUTPUT_END_SIZE = 40 };
void wadi_output_end_line(uint64_t key, char text[WADI_OUTPUT_END_SIZE]);

#endif
