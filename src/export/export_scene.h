/* Common to all export formats: the frame, its axes, and its grains sorted by colour. */
#ifndef WADI_EXPORT_SCENE_H
#define WADI_EXPORT_SCENE_H

#include "export/export_out.h"
#include "io/run/output_index.h"
#include "render/frame_scene.h"

/* One frame of a run. Everything is borrowed. */
typedef struct WadiExportFrame {
    const WadiScene *scene;
    const WadiFrameScene *frame_scene; /* NULL in calls that write files common to all frames */
    WadiCamera camera;
    WadiLightDef light;
    double exposure;  /* stops: scales the light so that white is 1 */
    const char *name; /* of the run: files are NAME.0001.pov */
    int frame;        /* 0: a file that several frames share */
    double time, fps;
    bool is_y_up;
    uint64_t key;                   /* an equal key means an equal file */
    const WadiOutputIndex *outputs; /* of the folder; NULL: files are not recorded */
    WadiFileNames *made;            /* files written for the frame */
    uint64_t settings_key;          /* of what all frames share */
    WadiFileNames *shared;          /* files of several frames that this export has written or verified */
    bool is_forced;                 /* files are written even where they exist */
} WadiExportFrame;

/* Call before a file is written: refuses to replace files that are not wadi's, and adds the file to
 * `made`. */
WadiStatus wadi_export_begin_file(const WadiExportFrame *frame, const char *path, WadiError *error);
/* A solid that stands still has one file for all frames. The first frame of an export writes it, unless it
 * exists and is complete. *is_wanted: write it as a file of `as`, whose key is that of the solid, then call
 * wadi_export_end_solid. */
typedef struct WadiExportSolid {
    WadiExportFrame as;
    WadiFileNames made;
} WadiExportSolid;
WadiStatus wadi_export_begin_solid(const WadiExportFrame *frame, const WadiFrameSceneSolid *solid,
                                   const char *path, WadiExportSolid *file, bool *is_wanted,
                                   WadiError *error);
/* Records the file when `status` is WADI_OK, and returns the first failure. */
WadiStatus wadi_export_end_solid(WadiExportSolid *file, WadiStatus status, WadiError *error);
/* STEM.0001ENDING, or STEMENDING when the solid stands still. */
enum { WADI_EXPORT_FILE_SIZE = 300 };
void wadi_export_solid_file(const WadiExportFrame *frame, const WadiFrameSceneSolid *solid, const char *stem,
                            const char *ending, char file[WADI_EXPORT_FILE_SIZE]);
/* The last line of a shared file that users may edit. */
void wadi_export_end(WadiExportOut *out, const WadiExportFrame *frame, const char *mark);

/* The camera's axes in double, perpendicular to 1e-16, as other programs require. Half the height of the
 * picture at distance 1 is tan(view_angle / 2). False when the camera has no direction or angle. */
typedef struct WadiExportCamera {
    WadiVec3 right, up, forward;
    double half_height;
    double focus; /* m */
} WadiExportCamera;
bool wadi_export_camera(const WadiCamera *camera, WadiExportCamera *axes);

/* From wadi's axes (z up) to those of the file, both right-handed. */
static inline WadiVec3 wadi_export_axes(const WadiExportFrame *frame, WadiVec3 a)
{
    return frame->is_y_up ? wadi_vec3(a.x, a.z, -a.y) : a;
}

/* Lowers water that stands on the ground into it, since other programs would show the film of air between
 * them as a mirror [theory 12.2]. Applies to vertices within a cell of the ground whose normals point
 * down. */
void wadi_export_close_gaps(WadiFrameScene *frame_scene);

/* Comment lines with prefix `mark` ("// ", "# "): description and key of the file. */
void wadi_export_comments(WadiExportOut *out, const WadiExportFrame *frame, const char *mark);

/* The same for a file common to all frames, whose key is that of the settings. `what` is one line about the
 * file. */
void wadi_export_shared_comments(WadiExportOut *out, const WadiExportFrame *frame, const char *mark,
                                 const char *what);

/* True when a file exists whose first bytes contain this key. */
bool wadi_export_is_made(const char *path, uint64_t key);

/* Grains of nearly equal colour and wetness, which share one material in other programs. */
typedef struct WadiGrainGroup {
    WadiRgb colour; /* linear */
    float wetness;
    size_t first, count; /* in `order` */
} WadiGrainGroup;

typedef struct WadiGrainGroups {
    WadiGrainGroup *group;
    size_t count;
    uint32_t *order; /* indices of grains by group, in their original order within a group */
} WadiGrainGroups;

/* Colours to 1/32 of each channel's range, wetness to 1/8. In the arena. */
WadiStatus wadi_grain_groups_make(WadiGrainGroups *groups, const WadiGrains *grains, WadiArena *arena,
                                  WadiError *error);

/* Foam, spray, bubbles and dust as balls, in the arena; patches of foam are balls smaller than they are. */
WadiStatus wadi_export_foam(const WadiFrameScene *frame_scene, WadiGrains *foam, WadiArena *arena,
                            WadiError *error);

/* Grains as particles with the attributes colour (linear), wetness and, where they have it, velocity; ids
 * count them. In the arena. */
WadiStatus wadi_export_grain_cloud(const WadiExportFrame *frame, const WadiGrains *grains, WadiCloud *made,
                                   WadiArena *arena, WadiError *error);

/* Grains of a colour with water between them; the colour that a bed of a look's grains has as a whole, before
 * that water darkens it. */
WadiRgb wadi_export_wet_colour(WadiRgb colour, float wetness);
WadiRgb wadi_export_bed_colour(const WadiLook *look, float wetness);

/* The colours of a solid's pattern at its vertices, in the arena; NULL: it has none. */
WadiStatus wadi_export_solid_colours(const WadiFrameScene *frame_scene, const WadiFrameSceneSolid *solid,
                                     WadiRgb **colours, WadiArena *arena, WadiError *error);

/* Size, m, of the pattern that stands for grains of sand: that of the grains, or of a pixel at the camera's
 * target where grains are smaller; *contrast is then less than 1. */
double wadi_export_grain_size(const WadiExportFrame *frame, const WadiLook *look, double *contrast);

/* The surround as directional lights: direction to the light and irradiance on a sheet that faces it. They
 * cover the upper hemisphere, and one is from below where the surround has light there. */
enum { WADI_EXPORT_DOME = 13 };
typedef struct WadiDomeLight {
    WadiVec3 direction; /* unit, wadi's axes */
    WadiRgb light;
} WadiDomeLight;
WadiStatus wadi_export_dome(const WadiLightDef *def, WadiDomeLight dome[WADI_EXPORT_DOME], WadiRgb *sun,
                            WadiError *error);

#endif
