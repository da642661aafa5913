#include "core/os/os_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, LINE_BYTES = 1024 };

void *wadi_os_block(size_t size, size_t alignment)
{
    void *block = NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

void wadi_os_block_free(void *block)
{
    free(block);
}

void wadi_os_block_is_huge(void *block, size_t size)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(block, size, MADV_HUGEPAGE);
#else
    (void)block;
    (void)size;
#endif
}

bool wadi_os_has_room(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED && munmap(pages, size) == 0;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t difference(size_t limit, size_t used)
{
    return limit > used ? limit - used : 0;
}

/* The number after `key` at the start of a line of a file of the kernel ("" for a file of one number);
 * false: there is none, or it is the word max. */
static bool read_number(const char *path, const char *key, size_t *number)
{
    FILE *file = fopen(path, "r");
    char line[LINE_BYTES];
    bool is_found = false;
    size_t length = strlen(key);
    while (file != NULL && !is_found && fgets(line, sizeof line, file) != NULL) {
        unsigned long long value = 0;
        /* NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers */
        if (strncmp(line, key, length) == 0 && sscanf(line + length, " %llu", &value) == 1) {
            *number = (size_t)value;
            is_found = true;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return is_found;
}

static size_t left_on_machine(void)
{
    size_t available = 0, swap = 0;
    if (!read_number("/proc/meminfo", "MemAvailable:", &available)) {
        return SIZE_MAX;
    }
    read_number("/proc/meminfo", "SwapFree:", &swap);
    return 1024 * (available + swap);
}

/* Files of the two versions of control groups: the limit, its used part, and the page cache in that part. */
typedef struct GroupFiles {
    const char *root, *limit, *used, *cache;
} GroupFiles;

static const GroupFiles version1 = { "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                     "memory.usage_in_bytes", "total_cache " };
static const GroupFiles version2 = { "/sys/fs/cgroup", "memory.max", "memory.current", "file " };

static bool read_group(const GroupFiles *files, const char *group, const char *name, const char *key,
                       size_t *number)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s%s/%s", files->root, group, name);
    return read_number(path, key, number);
}

/* The smallest remainder of a group and those around it. A container sees its own group as the root,
 * whatever its path is. */
static size_t left_in_group(const GroupFiles *files, const char *path)
{
    char group[PATH_BYTES];
    size_t left = SIZE_MAX;
    snprintf(group, sizeof group, "%s", path);
    for (bool is_root = false; !is_root;) {
        size_t limit = 0, used = 0, cache = 0;
        char *slash = strrchr(group, '/');
        is_root = slash == NULL || group[0] == '\0';
        if (read_group(files, group, files->limit, "", &limit) &&
            read_group(files, group, files->used, "", &used)) {
            read_group(files, group, "memory.stat", files->cache, &cache);
            left = smaller(left, difference(limit, difference(used, cache)));
        }
        if (!is_root) {
            *slash = '\0';
        }
    }
    return left;
}

static size_t left_in_groups(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[LINE_BYTES];
    size_t left = SIZE_MAX;
    /* Lines are NUMBER:CONTROLLERS:PATH; version 2 has no controllers there. */
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (path == NULL) {
            continue;
        }
        *path++ = '\0';
        if (controllers[1] == '\0') {
            left = smaller(left, left_in_group(&version2, path));
        } else if (strstr(controllers + 1, "memory") != NULL) {
            left = smaller(left, left_in_group(&version1, path));
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return left;
}

static size_t left_of_limit(struct rlimit limit, size_t used)
{
    return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : difference((size_t)limit.rlim_cur, used);
}

static size_t left_of_limits(void)
{
    unsigned long total = 0, data = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        /* NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers */
        int fields = fscanf(file, "%lu %*u %*u %*u %*u %lu", &total, &data);
        (void)fields; /* no fields: 0, the limit itself remains */
        fclose(file);
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct rlimit space = { RLIM_INFINITY, RLIM_INFINITY }, heap = space;
    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_DATA, &heap);
    return smaller(left_of_limit(space, page * total), left_of_limit(heap, page * data));
}

size_t wadi_memory_available(void)
{
    return smaller(left_on_machine(), smaller(left_in_groups(), left_of_limits()));
}

size_t wadi_memory_peak_rss(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return 0;
    }
    return (size_t)usage.ru_maxrss * 1024;
}

size_t wadi_memory_rss(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) {
        return 0;
    }
    unsigned long total = 0, resident = 0;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes these numbers */
    int fields = fscanf(file, "%lu %lu", &total, &resident);
    fclose(file);
    return fields == 2 ? (size_t)resident * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static size_t read_limit(const char *path)
{
    size_t bytes = SIZE_MAX;
    read_number(path, "", &bytes);
    return bytes;
}

size_t wadi_memory_total(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    size_t total = pages > 0 ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : SIZE_MAX;
    total = smaller(total, read_limit("/sys/fs/cgroup/memory.max"));
    total = smaller(total, read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        total = smaller(total, (size_t)limit.rlim_cur);
    }
    return total;
}
