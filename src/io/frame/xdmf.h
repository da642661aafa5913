/* The XDMF index, with which ParaView, VTK and VisIt open the frames as one animation. */
#ifndef WADI_IO_XDMF_H
#define WADI_IO_XDMF_H

#include "core/array.h"
#include "core/text.h"
#include "io/frame/frame_file.h"

typedef struct WadiXdmfEntry {
    int frame;
    size_t end; /* of its text, in bytes */
} WadiXdmfEntry;

/* The entries as text, in the order of their frames: a new frame costs one entry and one write. A zeroed
 * WadiXdmf is valid and empty. */
typedef struct WadiXdmf {
    WadiText entries;
    WADI_ARRAY(WadiXdmfEntry) index;
    WadiText file_text;      /* buffer for the written file; its memory is reused */
    size_t vertices_needed;  /* largest particle count of any entry */
    size_t vertices_written; /* count of numbers in the file NAME.vertices */
} WadiXdmf;

void wadi_xdmf_free(WadiXdmf *xdmf);
/* Removes the entries of frames after `frame`. */
void wadi_xdmf_truncate(WadiXdmf *xdmf, int frame);
/* Appends the file of a frame of the scene `name`; entries of this and later frames are removed first. */
WadiStatus wadi_xdmf_add(WadiXdmf *xdmf, const char *name, const WadiFrameLayout *layout, WadiError *error);
/* Writes FOLDER/NAME.xdmf atomically, and before it, where needed, FOLDER/NAME.vertices: the numbers 0, 1, 2,
 * … as raw u32. vtkXdmf3Reader creates no vertices itself; without this list ParaView shows nothing. */
WadiStatus wadi_xdmf_write(WadiXdmf *xdmf, const char *folder, const char *name, WadiError *error);

#endif
