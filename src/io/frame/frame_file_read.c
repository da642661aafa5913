/* Reads frame files, or their bytes in memory, by the table in the user block. Nothing is trusted: sizes are
 * compared with the file size before memory is allocated, and every value is verified. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/text.h"
#include "io/frame/frame_block.h"

static const size_t largest_metadata = (size_t)1 << 20;

/* A file, or its bytes in memory. */
typedef struct Input {
    const char *path; /* or the name of the bytes, for messages */
    int fd;           /* -1: read from `bytes` */
    const unsigned char *bytes;
    uint64_t size;
} Input;

/* Reads exactly `size` bytes at `offset`; a shorter file is damaged. */
static WadiStatus read_exactly(const Input *input, void *bytes, size_t size, uint64_t offset,
                               WadiError *error)
{
    if (input->fd < 0) {
        if (offset > input->size || size > input->size - offset) {
            return wadi_fail(error, WADI_ERR_FORMAT, "%s: ends too early", input->path);
        }
        if (size > 0) {
            memcpy(bytes, input->bytes + offset, size);
        }
        return WADI_OK;
    }
    char *cursor = bytes;
    while (size > 0) {
        size_t piece = size < ((size_t)64 << 20) ? size : (size_t)64 << 20;
        ssize_t got = pread(input->fd, cursor, piece, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return wadi_fail_errno(error, errno, "cannot read %s", input->path);
        }
        if (got == 0) {
            return wadi_fail(error, WADI_ERR_FORMAT, "%s: ends too early", input->path);
        }
        cursor += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return WADI_OK;
}

static WadiStatus read_block(const Input *input, WadiUserBlock *block, WadiError *error)
{
    const char *path = input->path;
    if (input->size < WADI_FRAME_USER_BLOCK) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: not a frame or checkpoint of wadi", path);
    }
    unsigned char image[WADI_FRAME_USER_BLOCK];
    WADI_TRY(read_exactly(input, image, sizeof image, 0, error));
    memcpy(block, image, sizeof *block);
    if (memcmp(block->magic, WADI_BLOCK_MAGIC, sizeof block->magic) != 0) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: not a frame or checkpoint of wadi", path);
    }
    if (block->block_hash != wadi_block_hash(image)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: the user block is damaged", path);
    }
    if (block->version != WADI_BLOCK_VERSION) {
        return wadi_fail(error, WADI_ERR_UNSUPPORTED, "%s: format version %llu, this wadi reads version 1",
                         path, (unsigned long long)block->version);
    }
    if (block->file_size != input->size) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: %llu bytes, %llu were written: the file is cut or grew",
                         path, (unsigned long long)input->size, (unsigned long long)block->file_size);
    }
    if (block->metadata_size < WADI_FRAME_USER_BLOCK || block->metadata_size > largest_metadata ||
        block->metadata_size > block->file_size || block->array_count > WADI_STATE_MAX) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: the user block contradicts itself", path);
    }
    return WADI_OK;
}

/* wadi does not read the HDF5 metadata, but other programs do: damage must be reported. */
static WadiStatus check_metadata(const Input *input, const WadiUserBlock *block, WadiError *error)
{
    size_t size = (size_t)block->metadata_size;
    unsigned char *image = NULL;
    WADI_TRY(WADI_NEW(&image, size, "metadata of a frame", error));
    WadiStatus status = read_exactly(input, image, size, 0, error);
    if (status == WADI_OK && block->metadata_hash != wadi_metadata_hash(image, size)) {
        status = wadi_fail(error, WADI_ERR_FORMAT, "%s: the HDF5 metadata is damaged", input->path);
    }
    WADI_DELETE(image, size);
    return status;
}

static WadiStatus open_input(Input *input, const char *path, WadiError *error)
{
    /* O_NONBLOCK: the path may be a pipe. */
    *input = (Input){ .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
    struct stat info = { 0 };
    if (input->fd < 0 || fstat(input->fd, &info) != 0) {
        return wadi_fail_errno(error, errno, "cannot read %s", path);
    }
    input->size = S_ISREG(info.st_mode) && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    return WADI_OK;
}

static void close_input(Input *input)
{
    if (input->fd >= 0) {
        close(input->fd);
        input->fd = -1;
    }
}

/* Reads and verifies everything except the values. */
static WadiStatus open_block(const Input *input, WadiUserBlock *block, WadiError *error)
{
    WADI_TRY(read_block(input, block, error));
    return check_metadata(input, block, error);
}

WadiStatus wadi_frame_file_check(const char *path, WadiError *error)
{
    Input input;
    WadiUserBlock block = { 0 };
    WadiStatus status = open_input(&input, path, error);
    if (status == WADI_OK) {
        status = open_block(&input, &block, error);
    }
    close_input(&input);
    return status;
}

/* Names go into the headers and scripts that other programs read. */
static WadiStatus fail_name(const char *path, const char *what, const char *name, WadiError *error)
{
    WadiText shown = { 0 };
    wadi_text_append_json(&shown, name);
    WadiStatus status = wadi_fail(
        error, WADI_ERR_FORMAT,
        "%s: %s is named %s, but names hold letters, digits, '.', '_' and '-' only: wadi did not write this",
        path, what, wadi_text_cstr(&shown));
    wadi_text_free(&shown);
    return status;
}

/* Reads one array of the table. Every value is checked: the hash of the block is no protection against a
 * forged file. */
static WadiStatus parse_array(const char *path, const WadiBlockArray *from, WadiFrameLayout *layout,
                              WadiError *error)
{
    WadiFrameArray *to = &layout->array[layout->array_count];
    if (from->name[0] == '\0' || memchr(from->name, '\0', sizeof from->name) == NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: dataset %d has no proper name", path,
                         layout->array_count);
    }
    if (!wadi_text_is_name(from->name)) {
        return fail_name(path, "a dataset", from->name, error);
    }
    for (int i = 0; i < layout->array_count; ++i) {
        if (strcmp(layout->array[i].name, from->name) == 0) {
            return wadi_fail(error, WADI_ERR_FORMAT, "%s: dataset '%s' is there twice", path, from->name);
        }
    }
    if (from->type > WADI_TYPE_F64 || from->components < 1 || from->components > WADI_STATE_COMPONENTS_MAX) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: dataset '%s' has no known type or shape", path,
                         from->name);
    }
    size_t item = wadi_type_size((WadiType)from->type) * from->components;
    if (from->count > 0 && (from->offset < layout->metadata_size || from->offset > layout->file_size ||
                            from->count > (layout->file_size - from->offset) / item)) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: dataset '%s' lies outside the file", path, from->name);
    }
    memcpy(to->name, from->name, sizeof to->name);
    to->type = (WadiType)from->type;
    to->components = (int)from->components;
    to->count = (size_t)from->count;
    to->offset = from->offset;
    to->checksum = from->checksum;
    layout->array_count += 1;
    return WADI_OK;
}

/* All arrays of a frame have one item per particle, so readers may use the number of positions for all. */
static WadiStatus check_particles(const char *path, const WadiFrameLayout *layout, WadiError *error)
{
    static const struct {
        const char *name;
        WadiType type;
        int components;
    } known[] = { { "position", WADI_TYPE_F64, 3 },
                  { "velocity", WADI_TYPE_F32, 3 },
                  { "id", WADI_TYPE_U32, 1 },
                  { "material", WADI_TYPE_U8, 1 } };
    const WadiFrameArray *position = NULL;
    for (int i = 0; i < layout->array_count; ++i) {
        position = strcmp(layout->array[i].name, "position") == 0 ? &layout->array[i] : position;
    }
    if (position == NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: no dataset 'position'", path);
    }
    for (int i = 0; i < layout->array_count; ++i) {
        const WadiFrameArray *array = &layout->array[i];
        if (array->count != position->count) {
            return wadi_fail(error, WADI_ERR_FORMAT, "%s: dataset '%s' has %zu items for %zu particles", path,
                             array->name, array->count, position->count);
        }
        for (size_t k = 0; k < sizeof known / sizeof *known; ++k) {
            if (strcmp(array->name, known[k].name) == 0 &&
                (array->type != known[k].type || array->components != known[k].components)) {
                return wadi_fail(error, WADI_ERR_FORMAT, "%s: dataset '%s' holds %d %s a particle, not %d %s",
                                 path, array->name, array->components, wadi_type_name(array->type),
                                 known[k].components, wadi_type_name(known[k].type));
            }
        }
    }
    return WADI_OK;
}

static WadiStatus parse_layout(const char *path, const char *group, const WadiUserBlock *block,
                               WadiFrameLayout *layout, WadiError *error)
{
    const char *format = wadi_frame_format(group);
    if (strncmp(block->format, format, sizeof block->format) != 0) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: format is '%.*s', expected '%s'", path,
                         (int)sizeof block->format, block->format, format);
    }
    if (block->frame < 0 || block->frame > INT_MAX || memchr(block->name, '\0', sizeof block->name) == NULL) {
        return wadi_fail(error, WADI_ERR_FORMAT, "%s: the user block contradicts itself", path);
    }
    for (const char *c = block->name; *c != '\0'; ++c) { /* it is only shown, and may be of any language */
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            return fail_name(path, "the scene", block->name, error);
        }
    }
    layout->header = (WadiFrameHeader){
        .time = block->time, .frame = (int)block->frame, .fps = block->fps, .scene = block->scene
    };
    memcpy(layout->header.name, block->name, sizeof block->name);
    layout->file_size = block->file_size;
    layout->metadata_size = (size_t)block->metadata_size;
    for (uint64_t i = 0; i < block->array_count; ++i) {
        WADI_TRY(parse_array(path, &block->array[i], layout, error));
    }
    return strcmp(group, "particles") == 0 ? check_particles(path, layout, error) : WADI_OK;
}

static WadiStatus open_layout(const Input *input, const char *group, WadiFrameLayout *layout,
                              WadiError *error)
{
    *layout = (WadiFrameLayout){ 0 };
    WadiUserBlock block = { 0 };
    WADI_TRY(open_block(input, &block, error));
    WadiStatus status = parse_layout(input->path, group, &block, layout, error);
    if (status != WADI_OK) {
        *layout = (WadiFrameLayout){ 0 };
    }
    return status;
}

WadiStatus wadi_frame_file_read_layout(const char *path, const char *group, WadiFrameLayout *layout,
                                       WadiError *error)
{
    *layout = (WadiFrameLayout){ 0 };
    Input input;
    WadiStatus status = open_input(&input, path, error);
    if (status == WADI_OK) {
        status = open_layout(&input, group, layout, error);
    }
    close_input(&input);
    return status;
}

static WadiStatus read_arrays(const Input *input, const WadiFrameLayout *layout, WadiState *state,
                              WadiError *error)
{
    for (int i = 0; i < layout->array_count; ++i) {
        const WadiFrameArray *array = &layout->array[i];
        void *data = NULL;
        WADI_TRY(
            wadi_state_add(state, array->name, array->type, array->components, array->count, &data, error));
        WADI_TRY(read_exactly(input, data, wadi_frame_array_bytes(array), array->offset, error));
        if (wadi_hash_bytes(0, data, wadi_frame_array_bytes(array)) != array->checksum) {
            return wadi_fail(error, WADI_ERR_FORMAT, "%s: dataset '%s' is damaged: its checksum is wrong",
                             input->path, array->name);
        }
    }
    return WADI_OK;
}

/* Squares of larger coordinates overflow single precision, which surfaces and pictures use. */
static const double coordinate_max = 1e12;

static WadiStatus check_positions(const char *path, const WadiState *state, WadiError *error)
{
    const WadiStateArray *position = wadi_state_find(state, "position");
    const double *x = position->data;
    for (size_t i = 0; i < position->count; ++i, x += 3) {
        if (!(fabs(x[0]) <= coordinate_max && fabs(x[1]) <= coordinate_max && fabs(x[2]) <= coordinate_max)) {
            bool is_finite = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
            return wadi_fail(
                error, WADI_ERR_NUMERIC,
                "%s: particle %zu: its position (%g, %g, %g) is %s: the frame is damaged, or the "
                "simulation went wrong",
                path, i, x[0], x[1], x[2], is_finite ? "farther away than 1e12 m" : "not finite");
        }
    }
    return WADI_OK;
}

static WadiStatus read_state(const Input *input, const char *group, WadiFrameHeader *header, WadiState *state,
                             WadiError *error)
{
    WadiFrameLayout layout;
    WADI_TRY(open_layout(input, group, &layout, error));
    WadiStatus status = read_arrays(input, &layout, state, error);
    if (status == WADI_OK && strcmp(group, "particles") == 0) {
        status = check_positions(input->path, state, error);
    }
    if (status != WADI_OK) {
        wadi_state_clear(state);
        return status;
    }
    *header = layout.header;
    return WADI_OK;
}

WadiStatus wadi_frame_file_read(const char *path, const char *group, WadiFrameHeader *header,
                                WadiState *state, WadiError *error)
{
    *header = (WadiFrameHeader){ 0 };
    wadi_state_clear(state);
    Input input;
    WadiStatus status = open_input(&input, path, error);
    if (status == WADI_OK) {
        status = read_state(&input, group, header, state, error);
    }
    close_input(&input);
    return status;
}

WadiStatus wadi_frame_bytes_read(const void *bytes, size_t size, const char *name, const char *group,
                                 WadiFrameHeader *header, WadiState *state, WadiError *error)
{
    *header = (WadiFrameHeader){ 0 };
    wadi_state_clear(state);
    return read_state(&(Input){ .path = name, .fd = -1, .bytes = bytes, .size = size }, group, header, state,
                      error);
}
