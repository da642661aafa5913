/* High-dynamic-range pictures from files: Radiance .hdr (RGBE) and .pfm. */
#ifndef WADI_RENDER_HDR_H
#define WADI_RENDER_HDR_H

#include "core/status.h"
#include "render/image/vec3f.h"

/* Rows from the top; every value is from 0 to 1e12. A zeroed picture is valid and empty. */
typedef struct WadiHdr {
    int width, height;
    WadiRgb *pixels;
} WadiHdr;

/* Recognizes the format by content. Refuses files that are damaged, cut short or over WADI_IMAGE_SIDE_MAX a
 * side, with the position. */
WadiStatus wadi_hdr_read(WadiHdr *hdr, const char *path, WadiError *error);
/* The same from memory; `name` is for messages. */
WadiStatus wadi_hdr_read_memory(WadiHdr *hdr, const void *bytes, size_t size, const char *name,
                                WadiError *error);
void wadi_hdr_free(WadiHdr *hdr);

#endif
