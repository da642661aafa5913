/* The thread that simulates, or reads a run, and makes pictures of it. */
#ifndef WADI_VIEW_SESSION_H
#define WADI_VIEW_SESSION_H

#include <stdio.h>

#include "view.h"
#include "view_history.h"
#include "view_hub.h"
#include "view_mesh.h"
#include "view_record.h"
#include "view_slice.h"

/* Name of the solid that the pointer moves. */
#define WADI_VIEW_BALL "view_ball"

enum { WADI_VIEW_COLLIDERS = 64 }; /* that are shown */

/* A state from which the simulation can be made again: a checkpoint, or without bytes its beginning. */
typedef struct WadiViewSaved {
    WadiBuffer state;
    double at, seconds; /* s: when it was saved, and how long that took */
} WadiViewSaved;

/* States before strokes of tools, oldest first. */
enum { WADI_VIEW_MARKS = 32 };
typedef struct WadiViewMarks {
    WadiBuffer state[WADI_VIEW_MARKS];
    int count;
    size_t bytes;
} WadiViewMarks;

typedef struct WadiViewSession {
    const WadiViewDef *def;
    WadiViewHub *hub;
    WadiScene *scene;         /* as loaded; the simulation's after changes is wadi_sim_scene */
    WadiScene *surface_scene; /* the same with the surface settings of the view */
    WadiSim *sim;             /* NULL: a run is played */
    WadiRunReader *reader;
    int chosen;                      /* scene of def->scenes; -1: the one given */
    char solver[WADI_VIEW_NAME_MAX]; /* "": the scene's */
    bool is_water[256];              /* by material */
    double cell_size, spacing, fps;
    bool is_playing;
    int steps_wanted;                   /* single steps while paused */
    double speed;                       /* simulated seconds a second, at most */
    double pace_wall, pace_time;        /* clocks when the pace was set */
    bool is_dirty;                      /* the state changed since the last picture */
    bool is_edited;                     /* by a person, who waits to see it */
    uint32_t shown;                     /* a past frame is shown; 0: the present state */
    char colour[WADI_VIEW_NAME_MAX];    /* quantity that the page colours by; "": it shows materials */
    char attribute[WADI_VIEW_NAME_MAX]; /* of pictures: `colour`, or what materials are shown with */
    double low, high;                   /* of the attribute */
    double fixed_low, fixed_high;       /* chosen by a person; equal: not */
    bool has_wetness;                   /* of the state that the page was told of */
    int slice_axis;                     /* of the cells that the page shows; 3: none */
    double slice_at;                    /* 0..1 */
    double box_low[3], box_high[3];     /* m, of the domain */
    bool has_box;
    WadiViewMarks marks;
    char *replay; /* changes of a link that are not repeated yet; NULL: none */
    size_t replay_size;
    int64_t reach;     /* steps at which a link stops; 0: none */
    size_t sent_bytes; /* of the last picture */
    int keep;          /* particles shown of WADI_VIEW_KEEP_ALL */
    bool has_surface;
    bool has_moved[WADI_VIEW_COLLIDERS]; /* since they were sent */
    bool has_ball;
    bool is_beside; /* the run def->beside is played */
    double ball[3], ball_radius;
    WadiViewPicture picture;
    WadiViewHistory history;
    WadiViewPage page;
    unsigned generation; /* of the page */
    WadiViewSurface surface;
    /* Statistics since the last report. */
    double picture_at; /* s: when the last picture was sent */
    double report_at;
    int pictures;
    double report_time;
    WadiProfile profile;
    WadiViewSaved saved;
    WadiViewRecorder recorder;
    bool has_record_note; /* a recording ended and the page has not been told */
} WadiViewSession;

/* view_state.c: loads the scene or the run that is chosen, at its beginning. */
WadiStatus wadi_view_load(WadiViewSession *session, WadiError *error);
void wadi_view_unload(WadiViewSession *session);
/* The scene or the run that is chosen in place of the present one. After a failure the present one stays. */
WadiStatus wadi_view_replace(WadiViewSession *session, WadiError *error);
/* False: what was loaded could not be made again, there is nothing to show. */
bool wadi_view_has_source(const WadiViewSession *session);
/* The attribute of pictures: `colour` where the state has it, else wetness, which darkens, else velocity. */
void wadi_view_choose_attribute(WadiViewSession *session);
WadiStatus wadi_view_quantity(WadiViewSession *session, const char *name, WadiView *view, WadiError *error);
const char *wadi_view_quantity_name(WadiViewSession *session, int n);
uint32_t wadi_view_frame(const WadiViewSession *session);
double wadi_view_time(const WadiViewSession *session);
/* The cells of a cut, solid ones marked, to be freed; false: there is nothing to cut. */
bool wadi_view_cut(WadiViewSession *session, int axis, double at, WadiViewSlice *slice);
/* Marks the cells of a slice whose middle is in a solid. */
void wadi_view_mark_solid(WadiViewSession *session, WadiViewSlice *slice);
/* Sends what the page must know of the scene, and the colliders. */
void wadi_view_send_scene(WadiViewSession *session);
/* Sends the colliders: all, or those that move. */
void wadi_view_send_colliders(WadiViewSession *session, bool all);
/* Appends a JSON string. */
void wadi_view_json(FILE *out, const char *text);
/* Appends a member of an object that has one already: a comma, the key and the number. */
void wadi_view_json_number(FILE *out, const char *key, double value);

/* view_recover.c: keeps a checkpoint of a good state, once in a while; it takes a twentieth of the time. */
void wadi_view_save_sometimes(WadiViewSession *session, double now);
void wadi_view_forget_saved(WadiViewSession *session);
/* Where a simulation was: steps taken and its changes. */
typedef struct WadiViewPoint {
    int64_t steps;
    char *changes; /* NULL: unknown; released by wadi_view_point_free */
} WadiViewPoint;
WadiViewPoint wadi_view_point(const WadiSim *sim);
void wadi_view_point_free(WadiViewPoint *point);
/* Simulates from the saved state to `point`, or, where that fails or takes long, makes the saved state. */
WadiStatus wadi_view_remake(WadiViewSession *session, const WadiViewPoint *point, WadiSim **sim,
                            WadiError *error);
/* A stopped simulation is made again at its last good state; the page is told why it stopped. */
void wadi_view_recover(WadiViewSession *session, const WadiError *why);

/* view_stages.c: takes a step and sends what each of its stages did. */
void wadi_view_show_stages(WadiViewSession *session);

/* view_undo.c: keeps the present state; goes back to the newest one that was kept. */
void wadi_view_mark(WadiViewSession *session);
void wadi_view_undo(WadiViewSession *session);
void wadi_view_forget_marks(WadiViewSession *session);

/* view_link.c: what a link needs; a line of its changes; repeats them and stops after so many steps. */
void wadi_view_send_link(WadiViewSession *session);
void wadi_view_add_replay(WadiViewSession *session, const char *line);
void wadi_view_forget_replay(WadiViewSession *session);
void wadi_view_reach(WadiViewSession *session, long steps);
void wadi_view_stop_where_wanted(WadiViewSession *session);

/* view_play.c: what the page asks for. */
void wadi_view_obey(WadiViewSession *session, const WadiViewMessage *messages, int count);
/* An error for the person at the page, and other news. */
void wadi_view_complain(WadiViewSession *session, const char *what, const char *why);
void wadi_view_tell(WadiViewSession *session, const char *what, const char *why);

/* view_session.c. The session borrows def and hub; nothing is loaded yet. */
void wadi_view_session_init(WadiViewSession *session, const WadiViewDef *def, WadiViewHub *hub);
void wadi_view_session_free(WadiViewSession *session);
/* The first picture, then one turn after another: advances when it is time to, sends what the
 * page has not. A turn returns the seconds that may be waited before the next. */
void wadi_view_session_begin(WadiViewSession *session);
double wadi_view_session_turn(WadiViewSession *session);
/* One step of the simulation. */
void wadi_view_advance(WadiViewSession *session);
/* The thread that does so; user is the session. */
void *wadi_view_session_run(void *user);

#endif
