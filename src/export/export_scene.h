/* What the writers of other programs' scenes share: the frame they write, its axes, and its grains sorted by colour. */
#ifndef WADI_EXPORT_SCENE_H
#define WADI_EXPORT_SCENE_H

#include "export/export_out.h"
#include "io/run/output_index.h"
#include "render/frame_scene.h"

/* One frame of a run. Everything is borrowed. */
typedef struct WadiExportFrame {
    const WadiScene *scene;
    const WadiFrameScene *frame_scene; /* NULL in calls that write what all frames share */
    WadiCamera camera;
    WadiLightDef light;
    double exposure;  /* stops: what brings the light to where white is 1 */
    const char *name; /* of the run: files are NAME.0001.pov */
    int frame;
    double time, fps;
    bool is_y_up;
    uint64_t key;                   /* an equal key means an equal file */
    const WadiOutputIndex *outputs; /* of the folder; NULL: files are not recorded */
    WadiFileNames *made;            /* files that were written for the frame */
} WadiExportFrame;

/* Before a file is written: it replaces no file but wadi's own, and is listed in `made`. */
WadiStatus wadi_export_begin_file(const WadiExportFrame *frame, const char *path, WadiError *error);
/* The last line of a shared file that a person may change. */
void wadi_export_end(WadiExportOut *out, const WadiExportFrame *frame, const char *mark);

/* The camera's axes in double, perpendicular to 1e-16: other programs check. Half the height of the picture at distance 1 is
 * tan(view_angle / 2). false: the camera has no direction or no angle. */
typedef struct WadiExportCamera {
    WadiVec3 right, up, forward;
    double half_height;
    double focus; /* m */
} WadiExportCamera;
bool wadi_export_camera(const WadiCamera *camera, WadiExportCamera *axes);

/* From wadi's axes (z up) to those of the file, both right-handed. */
static inline WadiVec3 wadi_export_turn(const WadiExportFrame *frame, WadiVec3 a)
{
    return frame->is_y_up ? wadi_vec3(a.x, a.z, -a.y) : a;
}

/* Water that stands on the ground reaches into it: under the film of air that is between them otherwise, other programs show a
 * mirror. (wadi's own tracer knows such contacts.) Vertices within a cell of the ground whose normals point down are sunk. */
void wadi_export_close_gaps(WadiFrameScene *frame_scene);

/* Lines that begin with `mark` ("// ", "# "): what the file is and its key. */
void wadi_export_comments(WadiExportOut *out, const WadiExportFrame *frame, const char *mark);

/* The same for what all frames share, whose key is that of the settings. `what` is one line about the file. */
void wadi_export_shared_comments(WadiExportOut *out, const WadiExportFrame *frame, const char *mark,
                                 const char *what);

/* Whether a file is there whose first bytes hold this key. */
bool wadi_export_is_made(const char *path, uint64_t key);

/* Grains whose colour and wetness are nearly the same: other programs then have one material for many. */
typedef struct WadiGrainGroup {
    WadiRgb colour; /* linear */
    float wetness;
    size_t first, count; /* in `order` */
} WadiGrainGroup;

typedef struct WadiGrainGroups {
    WadiGrainGroup *group;
    size_t count;
    uint32_t *order; /* indices of grains, group by group, in their own order within a group */
} WadiGrainGroups;

/* Colours to 1/32 of each channel's range, wetness to 1/8. In the arena. */
WadiStatus wadi_grain_groups_make(WadiGrainGroups *groups, const WadiGrains *grains, WadiArena *arena,
                                  WadiError *error);

/* The light that the frame's surround sends to a sheet, as so many lights without end: direction towards it and irradiance on a
 * sheet that faces it. Over the upper half of the directions, and one from below where the surround has light there. */
enum { WADI_EXPORT_DOME = 13 };
typedef struct WadiDomeLight {
    WadiVec3 direction; /* unit, wadi's axes */
    WadiRgb light;
} WadiDomeLight;
WadiStatus wadi_export_dome(const WadiLightDef *def, WadiDomeLight dome[WADI_EXPORT_DOME], WadiRgb *sun,
                            WadiError *error);

#endif
