/* Messages of the page to the server: one line of text each, "push 0.1 0.2 0.3 0.05". Nothing of a message is
 * trusted: lengths are bounded, numbers finite, names plain. view/README.md lists them. */
#ifndef WADI_VIEW_MESSAGE_H
#define WADI_VIEW_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { WADI_VIEW_MESSAGE_MAX = 512, WADI_VIEW_NAME_MAX = 64 };

typedef enum WadiViewKind {
    WADI_VIEW_HELLO,   /* text: the token */
    WADI_VIEW_ACK,     /* number: of the picture that is drawn */
    WADI_VIEW_PLAY,    /* */
    WADI_VIEW_PAUSE,   /* */
    WADI_VIEW_STEP,    /* one step */
    WADI_VIEW_RESTART, /* */
    WADI_VIEW_SEEK,    /* number: frame */
    WADI_VIEW_SPEED,   /* value[0]: simulated seconds a second */
    WADI_VIEW_SET,     /* text: KEY=VALUE */
    WADI_VIEW_POUR,    /* name: material; value: x y z radius vx vy vz saturation */
    WADI_VIEW_WET,     /* name: material; value[0]: its saturation */
    WADI_VIEW_DIG,     /* value: x y z radius */
    WADI_VIEW_PUSH,    /* value: x y z radius */
    WADI_VIEW_RELEASE, /* the ball goes away */
    WADI_VIEW_SCENE,   /* name: of the gallery */
    WADI_VIEW_SOLVER,  /* name */
    WADI_VIEW_COLOUR,  /* name: of a quantity */
    WADI_VIEW_SURFACE, /* number: 1 on, 0 off */
    WADI_VIEW_RECORD,  /* simulate the session again into a run folder */
    WADI_VIEW_BACK,  /* name: random; the page has the key and asks the server to prove that it has it too */
    WADI_VIEW_PROVE, /* text: that the page has the key */
    WADI_VIEW_RANGE, /* value: low, high of the colours; equal: as the quantity needs */
    WADI_VIEW_MARK,  /* a stroke of a tool or a slider begins: undo comes back here */
    WADI_VIEW_UNDO,
    WADI_VIEW_SLICE,  /* value: axis 0 to 2, else none; place in the domain, 0..1 */
    WADI_VIEW_LINK,   /* send what a link to this state needs */
    WADI_VIEW_CHANGE, /* text: a line of a record of changes, for `reach` */
    WADI_VIEW_OTHER,  /* the other one of two runs */
    WADI_VIEW_STAGES, /* a step, and what its stages did to the cells of a cut */
    WADI_VIEW_REACH,  /* number: of steps; repeats the changes up to there */
} WadiViewKind;

typedef struct WadiViewMessage {
    WadiViewKind kind;
    long number;
    double value[8];
    char name[WADI_VIEW_NAME_MAX];
    char text[WADI_VIEW_MESSAGE_MAX];
} WadiViewMessage;

/* False: the bytes are no message; *message is then zeroed. */
bool wadi_view_message_read(const char *bytes, size_t size, WadiViewMessage *message);

#endif
