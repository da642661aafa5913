#include "io/frame/xdmf.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/files/files.h"

void wadi_xdmf_free(WadiXdmf *xdmf)
{
    wadi_text_free(&xdmf->entries);
    wadi_text_free(&xdmf->file_text);
    WADI_ARRAY_FREE(&xdmf->index);
}

void wadi_xdmf_truncate(WadiXdmf *xdmf, int frame)
{
    while (xdmf->index.count > 0 && xdmf->index.data[xdmf->index.count - 1].frame > frame) {
        xdmf->index.count -= 1;
    }
    size_t end = xdmf->index.count > 0 ? xdmf->index.data[xdmf->index.count - 1].end : 0;
    if (end < xdmf->entries.length) {
        xdmf->entries.length = end;
        xdmf->entries.data[end] = '\0';
    }
}

static void append_escaped(WadiText *text, const char *value)
{
    for (; *value != '\0'; ++value) {
        switch (*value) {
        case '&': wadi_text_append(text, "&amp;"); break;
        case '<': wadi_text_append(text, "&lt;"); break;
        case '>': wadi_text_append(text, "&gt;"); break;
        case '"': wadi_text_append(text, "&quot;"); break;
        default: wadi_text_append_bytes(text, value, 1);
        }
    }
}

/* NULL for a type that readers misread: such an array is left out of the index. */
static const char *number_type(WadiType type)
{
    switch (type) {
    case WADI_TYPE_U8: return "UChar";
    case WADI_TYPE_U32: return "UInt";
    case WADI_TYPE_U64: return NULL; /* read as 32 bits by vtkXdmf3Reader */
    case WADI_TYPE_I32: return "Int";
    case WADI_TYPE_F32:
    case WADI_TYPE_F64: return "Float";
    }
    return "Float";
}

static void append_data(WadiText *text, const char *file_name, const WadiFrameArray *array)
{
    wadi_text_printf(text, "<DataItem Dimensions=\"%zu", array->count);
    if (array->components > 1) {
        wadi_text_printf(text, " %d", array->components);
    }
    wadi_text_printf(text, "\" NumberType=\"%s\" Precision=\"%zu\" Format=\"HDF\">", number_type(array->type),
                     wadi_type_size(array->type));
    append_escaped(text, file_name);
    wadi_text_append(text, ":/particles/");
    append_escaped(text, array->name);
    wadi_text_append(text, "</DataItem>");
}

/* The shapes with an XDMF name on which its readers agree. */
static const char *attribute_type(int components)
{
    switch (components) {
    case 1: return "Scalar";
    case 3: return "Vector";
    case 6: return "Tensor6";
    case 9: return "Tensor";
    default: return NULL;
    }
}

static const WadiFrameArray *find_position(const WadiFrameLayout *layout)
{
    for (int i = 0; i < layout->array_count; ++i) {
        const WadiFrameArray *array = &layout->array[i];
        if (strcmp(array->name, "position") == 0 && array->components == 3 &&
            (array->type == WADI_TYPE_F64 || array->type == WADI_TYPE_F32)) {
            return array;
        }
    }
    return NULL;
}

static void append_topology(WadiText *text, const char *name, size_t count)
{
    wadi_text_printf(
        text, "        <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%zu\" NodesPerElement=\"1\">",
        count);
    if (count > 0) {
        wadi_text_printf(text,
                         "<DataItem Dimensions=\"%zu\" NumberType=\"UInt\" Precision=\"4\" Format=\"Binary\" "
                         "Endian=\"Little\">",
                         count);
        append_escaped(text, name);
        wadi_text_append(text, ".vertices</DataItem>");
    }
    wadi_text_append(text, "</Topology>\n");
}

WadiStatus wadi_xdmf_add(WadiXdmf *xdmf, const char *name, const WadiFrameLayout *layout, WadiError *error)
{
    char file_name[256];
    snprintf(file_name, sizeof file_name, "%s.%04d.h5", name, layout->header.frame);
    wadi_xdmf_truncate(xdmf, layout->header.frame - 1);
    const WadiFrameArray *position = find_position(layout);
    size_t count = position != NULL ? position->count : 0;
    size_t start = xdmf->entries.length;
    WadiText *text = &xdmf->entries;
    wadi_text_append(text, "      <Grid Name=\"");
    append_escaped(text, file_name);
    wadi_text_append(text, "\" GridType=\"Uniform\">\n        <Time Value=\"");
    wadi_text_append_number(text, layout->header.time);
    wadi_text_append(text, "\"/>\n");
    append_topology(text, name, count);
    wadi_text_append(text, "        <Geometry GeometryType=\"XYZ\">");
    if (count > 0) {
        append_data(text, file_name, position);
    } else {
        /* A dataset without values, or an element without text, crashes ParaView; a blank does not. */
        wadi_text_append(text, "<DataItem Dimensions=\"0 3\" NumberType=\"Float\" Precision=\"8\" "
                               "Format=\"XML\"> </DataItem>");
    }
    wadi_text_append(text, "</Geometry>\n");
    for (int i = 0; i < layout->array_count && count > 0; ++i) {
        const WadiFrameArray *array = &layout->array[i];
        if (array != position && array->count == count && attribute_type(array->components) != NULL &&
            number_type(array->type) != NULL) {
            wadi_text_append(text, "        <Attribute Name=\"");
            append_escaped(text, array->name);
            wadi_text_printf(text, "\" AttributeType=\"%s\" Center=\"Node\">",
                             attribute_type(array->components));
            append_data(text, file_name, array);
            wadi_text_append(text, "</Attribute>\n");
        }
    }
    wadi_text_append(text, "      </Grid>\n");
    WadiStatus status = wadi_text_status(text, error);
    WadiXdmfEntry entry = { layout->header.frame, text->length };
    if (status == WADI_OK) {
        status = WADI_ARRAY_PUSH(&xdmf->index, entry, "XDMF index", error);
    }
    xdmf->vertices_needed = count > xdmf->vertices_needed ? count : xdmf->vertices_needed;
    if (status != WADI_OK && text->data != NULL) {
        text->length = start;
        text->data[start] = '\0';
        text->has_failed = false;
    }
    return status;
}

/* Twice the number needed, so that an emitter does not cause a new file in each frame. */
static WadiStatus write_vertices(WadiXdmf *xdmf, const char *folder, const char *name, WadiError *error)
{
    enum { PIECE = 1 << 14 };
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.vertices", folder, name);
    struct stat info;
    xdmf->vertices_written = stat(path, &info) == 0 ? (size_t)info.st_size / sizeof(uint32_t) : 0;
    if (xdmf->vertices_written >= xdmf->vertices_needed) {
        return WADI_OK;
    }
    size_t count = PIECE;
    while (count < xdmf->vertices_needed) {
        count *= 2;
    }
    WadiFileWriter writer;
    WADI_TRY(wadi_file_writer_open(&writer, path, error));
    for (size_t first = 0; first < count; first += PIECE) {
        uint32_t numbers[PIECE];
        for (uint32_t i = 0; i < PIECE; ++i) {
            numbers[i] = (uint32_t)first + i;
        }
        WADI_TRY(wadi_file_writer_put(&writer, numbers, sizeof numbers, first * sizeof(uint32_t), error));
    }
    WADI_TRY(wadi_file_writer_commit(&writer, error));
    xdmf->vertices_written = count;
    return WADI_OK;
}

WadiStatus wadi_xdmf_write(WadiXdmf *xdmf, const char *folder, const char *name, WadiError *error)
{
    if (xdmf->vertices_written < xdmf->vertices_needed) {
        WADI_TRY(write_vertices(xdmf, folder, name, error));
    }
    char path[WADI_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.xdmf", folder, name);
    WadiText *text = &xdmf->file_text;
    wadi_text_clear(text);
    wadi_text_append(text, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- written by wadi -->\n"
                           "<Xdmf Version=\"3.0\">\n  <Domain>\n    <Grid Name=\"");
    append_escaped(text, name);
    wadi_text_append(text, "\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
    wadi_text_append_bytes(text, xdmf->entries.data, xdmf->entries.length);
    wadi_text_append(text, "    </Grid>\n  </Domain>\n</Xdmf>\n");
    WADI_TRY(wadi_text_status(text, error));
    return wadi_file_write(path, text->data, text->length, error);
}
