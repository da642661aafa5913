/* PLY, as text or binary in either byte order: x, y, z of "vertex", the list vertex_indices of "face" (or of
 * "tristrips"). All other elements and properties are skipped. */
#include <string.h>

#include "geom/read/mesh_gather.h"
#include "geom/read/mesh_text.h"

enum { ELEMENTS_MAX = 32, PROPERTIES_MAX = 128 };

typedef enum Type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, TYPE_COUNT } Type;
typedef enum Coding { TEXT, LITTLE, BIG } Coding;
typedef enum Role { SKIPPED, X, Y, Z, INDICES } Role;
typedef enum Kind { OTHER, VERTEX, FACE, STRIP } Kind;

static const unsigned char type_size[TYPE_COUNT] = { 1, 1, 2, 2, 4, 4, 4, 8 };

typedef struct Property {
    Type type;
    Type count_type; /* of a list */
    bool is_list;
    Role role;
} Property;

typedef struct Element {
    Kind kind;
    int64_t count;
    int first, property_count; /* in Ply.properties */
} Element;

typedef struct Ply {
    WadiMeshGather *gather;
    WadiScan scan; /* of a binary file, too: `at` is the next byte */
    Coding coding;
    bool has_format;
    Element elements[ELEMENTS_MAX];
    int element_count;
    Property properties[PROPERTIES_MAX];
    int property_count;
} Ply;

static bool scan_type(WadiScan *scan, Type *type)
{
    static const char *const names[2][TYPE_COUNT] = {
        { "char", "uchar", "short", "ushort", "int", "uint", "float", "double" },
        { "int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64" },
    };
    size_t length;
    const char *word = wadi_scan_word(scan, &length);
    for (int i = 0; i < 2 * TYPE_COUNT; ++i) {
        if (wadi_word_is(word, length, names[i / TYPE_COUNT][i % TYPE_COUNT])) {
            *type = (Type)(i % TYPE_COUNT);
            return true;
        }
    }
    return false;
}

static WadiStatus parse_format(Ply *ply)
{
    static const char *const names[] = { "ascii", "binary_little_endian", "binary_big_endian" };
    size_t length;
    const char *word = wadi_scan_word(&ply->scan, &length);
    for (int i = 0; i < 3; ++i) {
        if (wadi_word_is(word, length, names[i])) {
            ply->coding = (Coding)i;
            ply->has_format = true;
            return WADI_OK;
        }
    }
    return wadi_gather_fail(ply->gather,
                            "the format is not ascii, binary_little_endian or binary_big_endian");
}

static WadiStatus parse_element(Ply *ply)
{
    size_t length;
    const char *word = wadi_scan_word(&ply->scan, &length);
    Element element = { .first = ply->property_count };
    element.kind = wadi_word_is(word, length, "vertex")      ? VERTEX
                   : wadi_word_is(word, length, "face")      ? FACE
                   : wadi_word_is(word, length, "tristrips") ? STRIP
                                                             : OTHER;
    wadi_scan_blanks(&ply->scan);
    if (!wadi_scan_whole(&ply->scan.at, ply->scan.end, &element.count) || element.count < 0 ||
        !wadi_scan_is_at_line_end(&ply->scan)) {
        return wadi_gather_fail(ply->gather, "a damaged element line");
    }
    if (ply->element_count == ELEMENTS_MAX) {
        return wadi_gather_fail(ply->gather, "more than %d elements", ELEMENTS_MAX);
    }
    ply->elements[ply->element_count++] = element;
    return WADI_OK;
}

static WadiStatus parse_property(Ply *ply)
{
    Property property = { 0 };
    size_t length;
    WadiScan ahead = ply->scan;
    const char *word = wadi_scan_word(&ahead, &length);
    property.is_list = wadi_word_is(word, length, "list");
    if (property.is_list) {
        ply->scan = ahead;
    }
    if ((property.is_list &&
         (!scan_type(&ply->scan, &property.count_type) || property.count_type >= FLOAT32)) ||
        !scan_type(&ply->scan, &property.type) || ply->element_count == 0) {
        return wadi_gather_fail(ply->gather, "a damaged property line");
    }
    if (ply->property_count == PROPERTIES_MAX) {
        return wadi_gather_fail(ply->gather, "more than %d properties", PROPERTIES_MAX);
    }
    Element *element = &ply->elements[ply->element_count - 1];
    word = wadi_scan_word(&ply->scan, &length);
    if (element->kind == VERTEX && !property.is_list && length == 1 && *word >= 'x' && *word <= 'z') {
        property.role = (Role)(X + (*word - 'x'));
    } else if ((element->kind == FACE || element->kind == STRIP) && property.is_list &&
               (wadi_word_is(word, length, "vertex_indices") || wadi_word_is(word, length, "vertex_index"))) {
        property.role = INDICES;
    }
    ply->properties[ply->property_count++] = property;
    ++element->property_count;
    return WADI_OK;
}

/* In a binary file the first byte of the data may be one that ends lines: all lines end as the first does. */
static void end_header(Ply *ply, const char *begin)
{
    const char *first = begin + 3;
    bool is_pair = first[0] == '\r' && ply->scan.end - first > 1 && first[1] == '\n';
    wadi_scan_blanks(&ply->scan);
    size_t left = (size_t)(ply->scan.end - ply->scan.at);
    ply->scan.at += left < 1 ? 0 : is_pair && left > 1 && ply->scan.at[0] == '\r' ? 2 : 1;
    ++ply->scan.line;
}

static WadiStatus parse_header(Ply *ply)
{
    WadiMeshGather *gather = ply->gather;
    const char *begin = ply->scan.at;
    size_t length;
    const char *word = wadi_scan_word(&ply->scan, &length);
    gather->line = 1;
    if (!wadi_word_is(word, length, "ply") || word != begin || !wadi_scan_is_at_line_end(&ply->scan)) {
        return wadi_gather_fail(gather, "does not begin with a line \"ply\"");
    }
    for (;;) {
        wadi_scan_next_line(&ply->scan);
        gather->line = ply->scan.line;
        word = wadi_scan_word(&ply->scan, &length);
        if (wadi_word_is(word, length, "end_header")) {
            end_header(ply, begin);
            return ply->has_format ? WADI_OK : wadi_gather_fail(gather, "no format line in the header");
        }
        if (wadi_word_is(word, length, "format")) {
            WADI_TRY(parse_format(ply));
        } else if (wadi_word_is(word, length, "element")) {
            WADI_TRY(parse_element(ply));
        } else if (wadi_word_is(word, length, "property")) {
            WADI_TRY(parse_property(ply));
        } else if (ply->scan.at >= ply->scan.end) {
            return wadi_gather_fail(gather, "the header does not end");
        } else if (length > 0 && !wadi_word_is(word, length, "comment") &&
                   !wadi_word_is(word, length, "obj_info")) {
            return wadi_gather_fail(gather, "a line in the header that is not of this format");
        }
    }
}

static double binary_value(const unsigned char *bytes, Type type, Coding coding)
{
    uint64_t bits = 0;
    int size = type_size[type];
    for (int i = 0; i < size; ++i) {
        bits |= (uint64_t)bytes[coding == LITTLE ? i : size - 1 - i] << (8 * i);
    }
    uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;
    switch (type) {
    case INT8: return (double)(int8_t)(uint8_t)bits;
    case INT16: return (double)(int16_t)(uint16_t)bits;
    case INT32: return (double)(int32_t)low;
    case FLOAT32: memcpy(&narrow, &low, sizeof narrow); return (double)narrow;
    case FLOAT64: memcpy(&wide, &bits, sizeof wide); return wide;
    default: return (double)bits;
    }
}

/* The next value of the data; false at the end of the file or where no number is. */
static bool next_value(Ply *ply, Type type, double *value)
{
    WadiScan *scan = &ply->scan;
    if (ply->coding == TEXT) {
        wadi_scan_space(scan, '\0');
        return wadi_scan_number(&scan->at, scan->end, value);
    }
    if (scan->end - scan->at < type_size[type]) {
        return false;
    }
    *value = binary_value((const unsigned char *)scan->at, type, ply->coding);
    scan->at += type_size[type];
    return true;
}

static WadiStatus add_index(Ply *ply, double value, bool is_strip)
{
    if (is_strip && value == -1.0) {
        return wadi_gather_strip(ply->gather);
    }
    if (!(value >= 0.0 && value <= 4294967295.0) || (double)(int64_t)value != value) {
        return wadi_gather_fail(ply->gather, "a face names vertex %g", value);
    }
    return wadi_gather_corner(ply->gather, (int64_t)value);
}

static WadiStatus parse_row(Ply *ply, const Element *element)
{
    double x[3] = { 0.0, 0.0, 0.0 };
    for (int i = 0; i < element->property_count; ++i) {
        const Property *property = &ply->properties[element->first + i];
        double count = 1.0, value = 0.0;
        bool is_there = !property->is_list || (next_value(ply, property->count_type, &count) && count >= 0.0);
        /* Each value takes a byte at least, so the end of the file stops a count that lies. */
        for (double k = 0.0; is_there && k < count; k += 1.0) {
            is_there = next_value(ply, property->type, &value);
            if (is_there && property->role == INDICES) {
                WADI_TRY(add_index(ply, value, element->kind == STRIP));
            } else if (is_there && property->role >= X && property->role <= Z) {
                x[property->role - X] = value;
            }
        }
        if (!is_there) {
            ply->gather->line = ply->coding == TEXT ? ply->scan.line : 0;
            return wadi_gather_fail(ply->gather,
                                    "the file ends too early or has something else than a number");
        }
    }
    if (element->kind == VERTEX) {
        return wadi_gather_vertex(ply->gather, (WadiVec3){ x[0], x[1], x[2] });
    }
    return element->kind == STRIP ? wadi_gather_strip(ply->gather) : wadi_gather_polygon(ply->gather);
}

static bool has_role(const Ply *ply, const Element *element, Role role)
{
    for (int i = 0; i < element->property_count; ++i) {
        if (ply->properties[element->first + i].role == role) {
            return true;
        }
    }
    return false;
}

static WadiStatus check_elements(const Ply *ply)
{
    bool has_vertices = false, has_faces = false;
    for (int e = 0; e < ply->element_count; ++e) {
        const Element *element = &ply->elements[e];
        if (element->kind == VERTEX) {
            has_vertices =
                has_role(ply, element, X) && has_role(ply, element, Y) && has_role(ply, element, Z);
        } else if (element->kind != OTHER && has_role(ply, element, INDICES)) {
            has_faces = true;
            if (!has_vertices) {
                return wadi_gather_fail(ply->gather, "no vertices with x, y and z before the faces");
            }
        }
    }
    return has_faces ? WADI_OK
                     : wadi_gather_fail(ply->gather, "no faces with vertex_indices: a cloud of points?");
}

WadiStatus wadi_mesh_parse_ply(WadiMeshGather *gather, const unsigned char *bytes, size_t size)
{
    Ply ply = { .gather = gather };
    ply.scan = (WadiScan){ .at = (const char *)bytes, .end = (const char *)bytes + size, .line = 1 };
    WADI_TRY(parse_header(&ply));
    gather->line = 0;
    WADI_TRY(check_elements(&ply));
    for (int e = 0; e < ply.element_count; ++e) {
        const Element *element = &ply.elements[e];
        if (element->property_count == 0) {
            continue;
        }
        if (element->count > ply.scan.end - ply.scan.at) {
            return wadi_gather_fail(gather, "%lld elements in %zu bytes: cut off, or a damaged header",
                                    (long long)element->count, (size_t)(ply.scan.end - ply.scan.at));
        }
        for (int64_t i = 0; i < element->count; ++i) {
            WADI_TRY(parse_row(&ply, element));
        }
    }
    return WADI_OK;
}
