/* The XDMF index beside the frames, by which ParaView, VTK and VisIt open the series as one animation. */
#ifndef WADI_IO_XDMF_H
#define WADI_IO_XDMF_H

#include "core/array.h"
#include "core/text.h"
#include "io/frame/frame_file.h"

typedef struct WadiXdmfEntry {
    int frame;
    size_t end; /* of its text */
} WadiXdmfEntry;

/* The entries in the order of their frames, as text, so that a new frame costs one entry and one write.
 * A zeroed WadiXdmf is valid and empty. */
typedef struct WadiXdmf {
    WadiText entries;
    WADI_ARRAY(WadiXdmfEntry) index;
    WadiText whole;         /* kept for its memory */
    size_t vertices_wanted; /* most particles of any entry so far */
    size_t vertices_there;  /* numbers in the file NAME.vertices */
} WadiXdmf;

void wadi_xdmf_free(WadiXdmf *xdmf);
/* Forget the entries of frames after `frame`. */
void wadi_xdmf_truncate(WadiXdmf *xdmf, int frame);
/* Append the file of a frame of the scene `name`; entries of this and later frames are forgotten first. */
WadiStatus wadi_xdmf_add(WadiXdmf *xdmf, const char *name, const WadiFrameLayout *layout, WadiError *error);
/* Write FOLDER/NAME.xdmf, atomically, and where needed FOLDER/NAME.vertices before it: the numbers 0, 1, 2, …
 * as raw u32. vtkXdmf3Reader makes no vertices, so that ParaView shows nothing, unless their points are
 * listed. */
WadiStatus wadi_xdmf_write(WadiXdmf *xdmf, const char *folder, const char *name, WadiError *error);

#endif
