/* Tables of keys. The scene language is one such table (io/scene/scene_schema.c), the settings of each solver
 * another. Parsing, defaults, freeing, the content hash, the JSON Schema and the reference page walk these
 * tables, so that each key is defined once. */
#ifndef WADI_WORLD_SCHEMA_H
#define WADI_WORLD_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

/* Type of a key's value, and the C type at its offset. */
typedef enum WadiSceneType {
    WADI_SCENE_NUMBER,    /* double */
    WADI_SCENE_INT,       /* int */
    WADI_SCENE_WHOLE,     /* double that is a whole number */
    WADI_SCENE_BOOL,      /* bool */
    WADI_SCENE_VEC3,      /* WadiVec3 */
    WADI_SCENE_CURVE1,    /* WadiCurve of one component */
    WADI_SCENE_CURVE3,    /* WadiCurve of three */
    WADI_SCENE_TEXT,      /* char *, owned; one of `choices` if there are any */
    WADI_SCENE_NAME,      /* char *, owned: letters, digits, . _ - */
    WADI_SCENE_ENUM,      /* int: a value of `choices` */
    WADI_SCENE_BITS_OFF,  /* int: a list of `choices`, whose bits are cleared */
    WADI_SCENE_FILE,      /* char *, owned: path as opened */
    WADI_SCENE_FILES,     /* the same with one %d-style field */
    WADI_SCENE_OBJECT,    /* a map read by `object`, at base + offset */
    WADI_SCENE_SETTINGS,  /* void *, owned: the settings of a solver, a struct that `object` describes */
    WADI_SCENE_LIST,      /* pointer to an owned array of `object`, int count at count_offset */
    WADI_SCENE_MAP,       /* the same from a map; the keys are names */
    WADI_SCENE_SHAPE,     /* WadiShapeDef */
    WADI_SCENE_SHAPE_NEW, /* WadiShapeDef *, owned; NULL when not given */
    WADI_SCENE_SHAPES,    /* list of shapes: the children of the WadiShapeDef at base */
    /* a shape's kind `value`: its parameters by `object`, or its children when that is NULL. */
    WADI_SCENE_KIND,
    WADI_SCENE_KEYS,      /* list of keyframes, into a WadiCurve */
    WADI_SCENE_KEY_VALUE, /* a keyframe's value: what the keyframed key holds */
} WadiSceneType;

enum {
    WADI_SCENE_REQUIRED = 1,
    WADI_SCENE_KEYFRAMES = 2,    /* may be written {keys: …} */
    WADI_SCENE_ABOVE_MIN = 4,    /* the minimum itself is not allowed */
    WADI_SCENE_BELOW_MAX = 8,    /* the maximum itself is not allowed */
    WADI_SCENE_ONE_FOR_ALL = 16, /* vectors: a single number means three equal ones */
    WADI_SCENE_NOT_ZERO = 32,    /* vectors: a direction, so not [0, 0, 0] */
    WADI_SCENE_NO_EFFECT = 64,   /* does not change the simulation: excluded from the content hash */
    /* Numbers and names: excluded from the content hash at their default, so that older runs of scenes
     * without the key can be resumed. */
    WADI_SCENE_HASH_IF_CHANGED = 128,
};

typedef struct WadiSceneChoice {
    const char *name;
    int value;
    const char *doc;
} WadiSceneChoice;

typedef struct WadiSceneChoices {
    const WadiSceneChoice *list;
    int count;
    bool is_numbers;                  /* written as numbers */
    const WadiSceneChoice *withdrawn; /* names that are refused; `doc` is what to write instead */
    int withdrawn_count;
    const WadiSceneChoice *hints; /* names that others use; `doc` is what to write instead */
    int hint_count;
} WadiSceneChoices;

typedef struct WadiSceneObject WadiSceneObject;

typedef struct WadiSceneField {
    const char *key;
    WadiSceneType type;
    size_t offset;
    unsigned flags;
    const char *unit;
    double minimum, maximum;   /* of each number and component */
    double fallback[3];        /* when the key is not given */
    const char *fallback_text; /* shown in the reference instead of the number */
    const WadiSceneChoices *choices;
    const WadiSceneObject *object;
    size_t count_offset;
    size_t presence; /* offset of a bool set when the key is given; 0: none */
    size_t where;    /* offset of a WadiWhere; 0: none */
    unsigned kinds;  /* bits of the object's kinds that have this key; 0: all */
    int value;       /* WADI_SCENE_KIND */
    const char *doc; /* one sentence */
} WadiSceneField;

/* Invariant: if any field has `kinds`, the field `kind` exists and is an ENUM. */
struct WadiSceneObject {
    const char *name; /* in the reference and the schema */
    const char *doc;
    const WadiSceneField *fields; /* with field_count by WADI_SCENE_FIELDS */
    int field_count;
    size_t size;        /* of the struct; 0 when it is part of another object's struct */
    size_t where;       /* offset of a char[160] "file:line:column"; 0: none */
    size_t name_offset; /* entries of a MAP: offset of the key */
    const char *example;
    /* Settings of a solver: included in the content hash of scenes with another solver, too. */
    bool is_always_hashed;
};

enum { WADI_SCENE_FIELD_MAX = 32, WADI_SCENE_CHOICE_MAX = 16 };

/* Length of an array of at most `most` items; a longer one does not compile. */
#define WADI_SCENE_COUNT(array, most)                                                                        \
    ((int)(sizeof(array) / sizeof((array)[0])) +                                                             \
     0 * (int)sizeof(struct {                                                                                \
         _Static_assert(sizeof(array) / sizeof((array)[0]) <= (most), "raise " #most);                       \
         int unused;                                                                                         \
     }))
#define WADI_SCENE_FIELDS(array)                                                                             \
    .fields = (array), .field_count = WADI_SCENE_COUNT(array, WADI_SCENE_FIELD_MAX)
/* Defines NAME_choices from the array NAME. */
#define WADI_SCENE_CHOICES(name)                                                                             \
    static const WadiSceneChoices name##_choices = { .list = (name),                                         \
                                                     .count =                                                \
                                                         WADI_SCENE_COUNT(name, WADI_SCENE_CHOICE_MAX) }
/* The same, with the array OLD of withdrawn names. */
#define WADI_SCENE_CHOICES_WITHOUT(name, old)                                                                \
    static const WadiSceneChoices name##_choices = { .list = (name),                                         \
                                                     .count = WADI_SCENE_COUNT(name, WADI_SCENE_CHOICE_MAX), \
                                                     .withdrawn = (old),                                     \
                                                     .withdrawn_count =                                      \
                                                         WADI_SCENE_COUNT(old, WADI_SCENE_CHOICE_MAX) }

const WadiSceneField *wadi_scene_field(const WadiSceneObject *object, const char *key);
/* Whether this kind of the object has the key. */
bool wadi_scene_field_fits(const WadiSceneField *field, int kind);
/* Fills a zeroed struct with the table's defaults. Allocates nothing. */
void wadi_scene_set_defaults(const WadiSceneObject *object, void *base);
/* Frees what the fields own, not the struct. */
void wadi_scene_free_fields(const WadiSceneObject *object, void *base);

#endif
