/* Files as far as systems differ. Functions that return an int give -1 and set errno when they fail. */
#ifndef WADI_CORE_OS_FILE_H
#define WADI_CORE_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    WADI_OS_WAITS = 1,   /* for the writer of a pipe, when it has none */
    WADI_OS_NO_LINKS = 2 /* the last name must not be a link: ELOOP */
};

/* Opens a file for reading: its bytes as they are, not handed to other programs. Release with close(). */
int wadi_os_open_read(const char *path, int flags);
/* Makes a file, which must not be there, for writing. */
int wadi_os_open_new(const char *path);
/* Writes past the page cache, of whole sectors from aligned memory: begins or ends them. False where there
 * are none, or where the file was already so. */
bool wadi_os_direct(int fd, bool is_wanted);
/* Writes bytes from `offset` on, perhaps fewer than asked. */
typedef struct WadiOsPiece {
    const void *bytes;
    size_t size;
} WadiOsPiece;
ssize_t wadi_os_write_pieces(int fd, const WadiOsPiece *pieces, int count, uint64_t offset);
ssize_t wadi_os_write_at(int fd, const void *bytes, size_t size, uint64_t offset);
/* Waits until the file, or the names in the folder, are on the disk. Where the file system cannot: EINVAL. */
int wadi_os_flush(int fd);
int wadi_os_flush_folder(const char *path);
/* Gives a file a new name; a file of that name is replaced at once. */
int wadi_os_rename(const char *from, const char *to);
int wadi_os_make_folder(const char *path);
/* What a link says, not ended by a zero; -1 where it is none. */
ssize_t wadi_os_read_link(const char *path, char *target, size_t size);
/* The largest file that this process may write. */
uint64_t wadi_os_file_limit(void);
/* What strtod gives in the locale "C", whatever the locale of the program is. */
double wadi_os_number(const char *text);

#endif
