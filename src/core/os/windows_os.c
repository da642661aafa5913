/* The same on Windows, for a file system and a C library of its own. Paths are in the program's code
 * page. */
#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* After windows.h. */
#include <psapi.h>

#include "core/os/os_file.h"
#include "core/os/os_memory.h"
#include "core/os/os_thread.h"

void *wadi_os_block(size_t size, size_t alignment)
{
    return _aligned_malloc(size, alignment);
}

void wadi_os_block_free(void *block)
{
    _aligned_free(block);
}

void wadi_os_block_is_huge(void *block, size_t size)
{
    (void)block;
    (void)size;
}

bool wadi_os_has_room(size_t size)
{
    void *pages = VirtualAlloc(NULL, size, MEM_RESERVE, PAGE_NOACCESS);
    return pages != NULL && VirtualFree(pages, 0, MEM_RELEASE) && size <= wadi_memory_available();
}

static PROCESS_MEMORY_COUNTERS memory_counters(void)
{
    PROCESS_MEMORY_COUNTERS counters = { .cb = sizeof counters };
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters)
               ? counters
               : (PROCESS_MEMORY_COUNTERS){ 0 };
}

size_t wadi_memory_peak_rss(void)
{
    return memory_counters().PeakWorkingSetSize;
}

size_t wadi_memory_rss(void)
{
    return memory_counters().WorkingSetSize;
}

size_t wadi_memory_total(void)
{
    MEMORYSTATUSEX status = { .dwLength = sizeof status };
    return GlobalMemoryStatusEx(&status) ? (size_t)status.ullTotalPhys : SIZE_MAX;
}

size_t wadi_memory_available(void)
{
    MEMORYSTATUSEX status = { .dwLength = sizeof status };
    return GlobalMemoryStatusEx(&status) ? (size_t)status.ullAvailPageFile : SIZE_MAX;
}

int wadi_os_cores(void)
{
    const DWORD cores = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return cores > 0 ? (int)cores : 1;
}

/* There are no signals that would be delivered to a thread. */
int wadi_os_thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    return pthread_create(thread, NULL, run, context);
}

int wadi_os_open_read(const char *path, int flags)
{
    const DWORD kind = GetFileAttributesA(path);
    if (kind != INVALID_FILE_ATTRIBUTES && (flags & WADI_OS_NO_LINKS) != 0 &&
        (kind & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
        errno = ELOOP;
        return -1;
    }
    return _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
}

int wadi_os_open_new(const char *path)
{
    return _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

ssize_t wadi_os_write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
    OVERLAPPED at = { .Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32) };
    DWORD written = 0;
    if (!WriteFile((HANDLE)_get_osfhandle(fd), bytes, (DWORD)(size < UINT32_MAX ? size : UINT32_MAX),
                   &written, &at)) {
        errno = GetLastError() == ERROR_DISK_FULL ? ENOSPC : EIO;
        return -1;
    }
    return (ssize_t)written;
}

bool wadi_os_direct(int fd, bool is_wanted)
{
    (void)fd;
    (void)is_wanted;
    return false;
}

ssize_t wadi_os_write_pieces(int fd, const WadiOsPiece *pieces, int count, uint64_t offset)
{
    (void)count;
    return wadi_os_write_at(fd, pieces[0].bytes, pieces[0].size, offset);
}

int wadi_os_flush(int fd)
{
    return _commit(fd);
}

/* The names are flushed with the files. */
int wadi_os_flush_folder(const char *path)
{
    (void)path;
    errno = EINVAL;
    return -1;
}

int wadi_os_rename(const char *from, const char *to)
{
    if (!MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
        errno = GetLastError() == ERROR_DISK_FULL ? ENOSPC : EACCES;
        return -1;
    }
    return 0;
}

int wadi_os_make_folder(const char *path)
{
    return _mkdir(path);
}

ssize_t wadi_os_read_link(const char *path, char *target, size_t size)
{
    (void)path;
    (void)target;
    (void)size;
    errno = EINVAL;
    return -1;
}

uint64_t wadi_os_file_limit(void)
{
    return UINT64_MAX;
}

double wadi_os_number(const char *text)
{
    const _locale_t c_locale = _create_locale(LC_ALL, "C");
    const double value = _strtod_l(text, NULL, c_locale);
    _free_locale(c_locale);
    return value;
}
