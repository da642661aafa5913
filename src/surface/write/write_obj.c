/* Threads print blocks of lines into slots long enough for the longest lines; the slots are then written in
 * order. Numbers are printed as integers in units of the last decimal, ten times faster than printf. */
#include "surface/write/write_obj.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/parallel.h"
#include "io/files/files.h"

enum {
    LINE_BYTES = 128, /* three numbers of at most 26 bytes and their blanks, or three pairs of ten digits */
    SLOT_LINES = 2048,
    SLOTS = 32,
    NORMAL_DECIMALS = 5,
    DECIMALS_MAX = 12
};

static const double power_of_ten[DECIMALS_MAX + 1] = { 1,   1e1, 1e2, 1e3,  1e4,  1e5, 1e6,
                                                       1e7, 1e8, 1e9, 1e10, 1e11, 1e12 };

static char *print_whole(char *at, uint64_t value, int least_digits)
{
    char digits[24];
    int count = 0;
    while (value > 0 || count < least_digits) {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    }
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

static char *print_number(char *at, double value, int decimals)
{
    double scaled = rint(fabs(value) * power_of_ten[decimals]);
    if (!(scaled < 0x1p53)) {
        return at + sprintf(at, "%.17g", value);
    }
    uint64_t unit = (uint64_t)power_of_ten[decimals], whole = (uint64_t)scaled;
    if (value < 0.0 && whole > 0) {
        *at++ = '-';
    }
    at = print_whole(at, whole / unit, 1);
    if (decimals > 0) {
        *at++ = '.';
        at = print_whole(at, whole % unit, decimals);
    }
    return at;
}

static char *print_vector(char *at, const char *name, double x, double y, double z, int decimals)
{
    for (; *name != '\0'; ++name) {
        *at++ = *name;
    }
    const double value[3] = { x, y, z };
    for (int c = 0; c < 3; ++c) {
        *at++ = ' ';
        at = print_number(at, value[c], decimals);
    }
    *at++ = '\n';
    return at;
}

typedef enum Lines { LINES_POSITIONS, LINES_NORMALS, LINES_FACES } Lines;

typedef struct Printer {
    const WadiSurfaceMesh *surface;
    Lines lines;
    int decimals;
    size_t first; /* first line of the slots */
    char (*slot)[SLOT_LINES * LINE_BYTES];
    size_t length[SLOTS];
} Printer;

static char *print_line(const Printer *p, size_t i, char *at)
{
    const WadiSurfaceMesh *s = p->surface;
    if (p->lines == LINES_POSITIONS) {
        WadiVec3 x = s->mesh.vertices[i];
        return print_vector(at, "v", x.x, x.y, x.z, p->decimals);
    }
    if (p->lines == LINES_NORMALS) {
        const float *n = s->normal[i];
        return print_vector(at, "vn", (double)n[0], (double)n[1], (double)n[2], NORMAL_DECIMALS);
    }
    *at++ = 'f';
    for (int c = 0; c < 3; ++c) {
        uint64_t number = (uint64_t)s->mesh.triangles[i][c] + 1;
        *at++ = ' ';
        at = print_whole(at, number, 1);
        *at++ = '/';
        *at++ = '/';
        at = print_whole(at, number, 1);
    }
    *at++ = '\n';
    return at;
}

/* One block fills one slot. */
static void print_slot(void *user, int64_t first, int64_t end)
{
    Printer *p = user;
    size_t slot = (size_t)first / SLOT_LINES;
    char *at = p->slot[slot];
    for (int64_t k = first; k < end; ++k) {
        at = print_line(p, p->first + (size_t)k, at);
    }
    p->length[slot] = (size_t)(at - p->slot[slot]);
}

static WadiStatus put_lines(WadiFileWriter *writer, Printer *printer, Lines lines, size_t count,
                            uint64_t *offset, WadiError *error)
{
    const size_t most = (size_t)SLOTS * SLOT_LINES;
    printer->lines = lines;
    for (printer->first = 0; printer->first < count; printer->first += most) {
        size_t left = count - printer->first;
        size_t now = left < most ? left : most;
        wadi_parallel_for((int64_t)now, SLOT_LINES, print_slot, printer);
        for (size_t slot = 0; slot * SLOT_LINES < now; ++slot) {
            WADI_TRY(
                wadi_file_writer_put(writer, printer->slot[slot], printer->length[slot], *offset, error));
            *offset += printer->length[slot];
        }
    }
    return WADI_OK;
}

/* Decimals whose last unit is at most a ten thousandth of a cell. */
static int decimals_for(double cell)
{
    int decimals = 0;
    while (decimals < DECIMALS_MAX && 1.0 > 1e-4 * cell * power_of_ten[decimals]) {
        ++decimals;
    }
    return decimals;
}

static WadiStatus put_mesh(WadiFileWriter *writer, Printer *printer, const WadiMeshFileInfo *info,
                           WadiError *error)
{
    const WadiMesh *mesh = &printer->surface->mesh;
    WadiText header = { 0 };
    wadi_mesh_file_comments(&header, info, "# ");
    wadi_text_printf(&header, "o %s\n", info->material);
    uint64_t offset = header.length;
    WadiStatus status = wadi_text_status(&header, error);
    if (status == WADI_OK) {
        status = wadi_file_writer_put(writer, header.data, header.length, 0, error);
    }
    wadi_text_free(&header);
    WADI_TRY(status);
    WADI_TRY(put_lines(writer, printer, LINES_POSITIONS, mesh->vertex_count, &offset, error));
    WADI_TRY(put_lines(writer, printer, LINES_NORMALS, mesh->vertex_count, &offset, error));
    return put_lines(writer, printer, LINES_FACES, mesh->triangle_count, &offset, error);
}

WadiStatus wadi_surface_write_obj(const char *path, const WadiSurfaceMesh *surface,
                                  const WadiMeshFileInfo *info, WadiError *error)
{
    Printer printer = { .surface = surface, .decimals = decimals_for(info->cell) };
    WadiFileWriter writer;
    WADI_TRY(WADI_NEW(&printer.slot, SLOTS, "part of an OBJ file", error));
    WadiStatus status = wadi_file_writer_open(&writer, path, error);
    if (status == WADI_OK) {
        status = put_mesh(&writer, &printer, info, error);
        if (status == WADI_OK) {
            status = wadi_file_writer_commit(&writer, error);
        }
        wadi_file_writer_cancel(&writer);
    }
    WADI_DELETE(printer.slot, SLOTS);
    return status;
}
