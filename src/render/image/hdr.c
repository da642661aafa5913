/* Readers of Radiance RGBE pictures and portable float maps. They never read past the end, and allocate no
 * more than the header's size, after checking that the file is long enough for it. */
#include "render/image/hdr.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/files/files.h"
#include "render/image/image.h"

static const size_t bytes_max = (size_t)4 << 30;

typedef struct Reader {
    const uint8_t *bytes;
    size_t size, at;
    const char *name;
    WadiError *error;
} Reader;

static WadiStatus damaged(const Reader *in, const char *what)
{
    return wadi_fail(in->error, WADI_ERR_FORMAT, "%s: byte %zu: %s", in->name, in->at, what);
}

/* Reads a line without its end; false at the end of the file or for a line longer than `capacity`. */
static bool read_line(Reader *in, char *line, size_t capacity)
{
    size_t length = 0;
    while (in->at < in->size && in->bytes[in->at] != '\n') {
        if (length + 1 >= capacity) {
            return false;
        }
        line[length++] = (char)in->bytes[in->at++];
    }
    line[length] = '\0';
    if (in->at == in->size) {
        return false;
    }
    ++in->at;
    return true;
}

static bool skip_word(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) {
        return false;
    }
    *at += length;
    return true;
}

/* At most nine digits, blanks before them. */
static bool read_count(const char **at, int *count)
{
    *at += strspn(*at, " \t");
    size_t digits = strspn(*at, "0123456789");
    if (digits < 1 || digits > 9) {
        return false;
    }
    *count = (int)strtol(*at, NULL, 10);
    *at += digits;
    return true;
}

static WadiStatus allocate(WadiHdr *hdr, Reader *in, int width, int height)
{
    if (width < 1 || height < 1 || width > WADI_IMAGE_SIDE_MAX || height > WADI_IMAGE_SIDE_MAX) {
        return wadi_fail(in->error, WADI_ERR_FORMAT, "%s: %d x %d pixels: expected 1 to %d a side", in->name,
                         width, height, WADI_IMAGE_SIDE_MAX);
    }
    WADI_TRY(WADI_NEW(&hdr->pixels, (size_t)width * (size_t)height, "light map", in->error));
    hdr->width = width;
    hdr->height = height;
    return WADI_OK;
}

/* Upper bound, so that sums over a map stay finite. */
static const float value_max = 1e12f;

static WadiRgb from_rgbe(const uint8_t p[4])
{
    if (p[3] == 0) {
        return wadi_grey(0.0f);
    }
    float scale = ldexpf(1.0f, (int)p[3] - (128 + 8));
    float value[3];
    for (int k = 0; k < 3; ++k) {
        value[k] = fminf(((float)p[k] + 0.5f) * scale, value_max);
    }
    return wadi_vec3f(value[0], value[1], value[2]);
}

/* One row of four planes, each coded as runs (a count over 128 and the value) and literals (a count and the
 * values). */
static WadiStatus read_runs(Reader *in, uint8_t *row, int width)
{
    for (int plane = 0; plane < 4; ++plane) {
        for (int x = 0; x < width;) {
            if (in->size - in->at < 2) {
                return damaged(in, "the picture ends in the middle of a row");
            }
            int count = in->bytes[in->at++];
            bool is_run = count > 128;
            count = is_run ? count - 128 : count;
            if (count == 0 || count > width - x || in->size - in->at < (is_run ? 1 : (size_t)count)) {
                return damaged(in, "a run of pixels does not fit into its row");
            }
            for (int k = 0; k < count; ++k) {
                row[4 * x++ + plane] = in->bytes[is_run ? in->at : in->at + (size_t)k];
            }
            in->at += is_run ? 1 : (size_t)count;
        }
    }
    return WADI_OK;
}

static WadiStatus read_radiance(WadiHdr *hdr, Reader *in)
{
    char line[256];
    bool has_format = false;
    do {
        if (!read_line(in, line, sizeof line)) {
            return damaged(in, "the header does not end");
        }
        has_format |= strcmp(line, "FORMAT=32-bit_rle_rgbe") == 0;
    } while (line[0] != '\0');
    int width = 0, height = 0;
    const char *at = line;
    if (!has_format || !read_line(in, line, sizeof line) || !skip_word(&at, "-Y ") ||
        !read_count(&at, &height) || !skip_word(&at, " +X ") || !read_count(&at, &width) || *at != '\0') {
        return damaged(in, "expected FORMAT=32-bit_rle_rgbe and a size like -Y 512 +X 1024");
    }
    /* The shortest row: four planes of runs of 127, or uncompressed pixels. */
    size_t runs = width > 0 ? 4 + 8 * (((size_t)width + 126) / 127) : 4,
           plain = width > 0 ? 4 * (size_t)width : 4;
    if (height > 0 && (in->size - in->at) / (runs < plain ? runs : plain) < (size_t)height) {
        return damaged(in, "the picture is shorter than its header says");
    }
    WADI_TRY(allocate(hdr, in, width, height));
    uint8_t *row;
    WADI_TRY(WADI_NEW(&row, (size_t)width * 4, "row of pixels", in->error));
    WadiStatus status = WADI_OK;
    for (int y = 0; y < height && status == WADI_OK; ++y) {
        const uint8_t *p = in->bytes + in->at;
        size_t left = in->size - in->at, flat = (size_t)width * 4;
        if (left >= 4 && width >= 8 && width < 32768 && p[0] == 2 && p[1] == 2 &&
            (p[2] << 8 | p[3]) == width) {
            in->at += 4;
            status = read_runs(in, row, width);
        } else if (left >= flat) {
            memcpy(row, p, flat);
            in->at += flat;
        } else {
            status = damaged(in, "the picture is shorter than its header says");
        }
        for (int x = 0; x < width && status == WADI_OK; ++x) {
            hdr->pixels[(size_t)y * (size_t)width + (size_t)x] = from_rgbe(row + 4 * x);
        }
    }
    WADI_DELETE(row, (size_t)width * 4);
    return status;
}

static float read_float(const uint8_t *p, bool is_little)
{
    uint32_t bits = is_little
                        ? (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24
                        : (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) && value > 0.0f ? fminf(value, value_max) : 0.0f;
}

/* "PF" or "Pf" (grey), size, scale (negative: little endian), rows from the bottom. */
static WadiStatus read_pfm(WadiHdr *hdr, Reader *in)
{
    char line[256];
    size_t channels = in->bytes[1] == 'F' ? 3 : 1;
    int width = 0, height = 0;
    const char *at = line;
    bool is_good = read_line(in, line, sizeof line); /* the signature */
    is_good =
        is_good && read_line(in, line, sizeof line) && read_count(&at, &width) && read_count(&at, &height);
    is_good = is_good && read_line(in, line, sizeof line);
    double scale = is_good ? strtod(line, NULL) : 0.0;
    if (scale == 0.0 || !isfinite(scale)) {
        return damaged(in, "expected PF, a line with width and height, and a line with the scale");
    }
    size_t row = (size_t)(width > 0 ? width : 1) * channels * 4;
    if (height < 1 || (in->size - in->at) / row < (size_t)height) {
        return damaged(in, "the picture is shorter than its header says");
    }
    WADI_TRY(allocate(hdr, in, width, height));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const uint8_t *p = in->bytes + in->at + (size_t)y * row + (size_t)x * channels * 4;
            float value[3];
            for (size_t k = 0; k < 3; ++k) {
                value[k] = read_float(p + 4 * (k < channels ? k : 0), scale < 0.0);
            }
            hdr->pixels[(size_t)(height - 1 - y) * (size_t)width + (size_t)x] =
                wadi_vec3f(value[0], value[1], value[2]);
        }
    }
    return WADI_OK;
}

WadiStatus wadi_hdr_read_memory(WadiHdr *hdr, const void *bytes, size_t size, const char *name,
                                WadiError *error)
{
    *hdr = (WadiHdr){ 0 };
    Reader in = { bytes, size, 0, name, error };
    WadiStatus status;
    if (size > 2 && memcmp(bytes, "#?", 2) == 0) {
        status = read_radiance(hdr, &in);
    } else if (size > 3 && (memcmp(bytes, "PF", 2) == 0 || memcmp(bytes, "Pf", 2) == 0)) {
        status = read_pfm(hdr, &in);
    } else {
        status = wadi_fail(error, WADI_ERR_FORMAT,
                           "%s: neither a Radiance picture (.hdr) nor a portable float map (.pfm)", name);
    }
    if (status != WADI_OK) {
        wadi_hdr_free(hdr);
    }
    return status;
}

WadiStatus wadi_hdr_read(WadiHdr *hdr, const char *path, WadiError *error)
{
    *hdr = (WadiHdr){ 0 };
    char *bytes = NULL;
    size_t size = 0;
    WADI_TRY(wadi_file_read(path, bytes_max, &bytes, &size, error));
    WadiStatus status = wadi_hdr_read_memory(hdr, bytes, size, path, error);
    wadi_free(bytes, size + 1, 1);
    return status;
}

void wadi_hdr_free(WadiHdr *hdr)
{
    WADI_DELETE(hdr->pixels, (size_t)hdr->width * (size_t)hdr->height);
    *hdr = (WadiHdr){ 0 };
}
