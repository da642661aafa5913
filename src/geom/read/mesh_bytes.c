#include "geom/read/mesh_bytes.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/os/os_file.h"

static WadiStatus check_kind(const char *path, int fd, size_t *size, WadiError *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return wadi_fail_errno(error, errno, "%s: cannot read the mesh", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return wadi_fail(error, WADI_ERR_IO, "%s: is %s, not a mesh file", path,
                         S_ISDIR(info.st_mode) ? "a folder" : "a special file");
    }
    if (info.st_size <= 0 || (uint64_t)info.st_size > WADI_MESH_FILE_BYTES_MAX) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: %s", path,
                         info.st_size <= 0 ? "the file is empty" : "mesh files may have up to 4 GiB");
    }
    *size = (size_t)info.st_size;
    return WADI_OK;
}

static WadiStatus read_all(WadiMeshBytes *bytes, const char *path, int fd, WadiError *error)
{
    for (size_t at = 0; at < bytes->size;) {
        ssize_t got = read(fd, bytes->data + at, bytes->size - at);
        if (got < 0 && errno != EINTR) {
            return wadi_fail_errno(error, errno, "%s: cannot read the mesh", path);
        }
        if (got == 0) {
            return wadi_fail(error, WADI_ERR_IO,
                             "%s: became shorter while it was read; wait until it is written", path);
        }
        at += got > 0 ? (size_t)got : 0;
    }
    return WADI_OK;
}

WadiStatus wadi_mesh_bytes_read(WadiMeshBytes *bytes, const char *path, size_t limit, bool allows_link,
                                WadiError *error)
{
    *bytes = (WadiMeshBytes){ 0 };
    int fd = wadi_os_open_read(path, allows_link ? 0 : WADI_OS_NO_LINKS);
    if (fd < 0 && errno == ELOOP && !allows_link) {
        return wadi_fail(error, WADI_ERR_IO, "%s: is a link; put the file itself there", path);
    }
    if (fd < 0) {
        return wadi_fail_errno(error, errno, "%s: cannot open the mesh", path);
    }
    size_t size = 0;
    WadiStatus status = check_kind(path, fd, &size, error);
    size = size < limit ? size : limit;
    if (status == WADI_OK) {
        status = wadi_alloc_unset((void **)&bytes->data, size, 1, "mesh file", error);
    }
    if (status == WADI_OK) {
        bytes->size = size;
        status = read_all(bytes, path, fd, error);
    }
    if (status != WADI_OK) {
        wadi_mesh_bytes_free(bytes);
    }
    close(fd);
    return status;
}

void wadi_mesh_bytes_free(WadiMeshBytes *bytes)
{
    wadi_free(bytes->data, bytes->size, 1);
    *bytes = (WadiMeshBytes){ 0 };
}
