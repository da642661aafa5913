#include "core/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(x) TEXT_OF_(x)
#define TEXT_OF_(x) #x

const char *wadi_version(void)
{
    return TEXT_OF(WADI_VERSION_MAJOR) "." TEXT_OF(WADI_VERSION_MINOR) "." TEXT_OF(WADI_VERSION_PATCH);
}

const char *wadi_status_name(WadiStatus status)
{
    switch (status) {
    case WADI_OK: return "ok";
    case WADI_ERR_ARGUMENT: return "argument";
    case WADI_ERR_MEMORY: return "memory";
    case WADI_ERR_IO: return "io";
    case WADI_ERR_FORMAT: return "format";
    case WADI_ERR_SCENE: return "scene";
    case WADI_ERR_BUSY: return "busy";
    case WADI_ERR_STOPPED: return "stopped";
    case WADI_ERR_NUMERIC: return "numeric";
    case WADI_ERR_UNSUPPORTED: return "unsupported";
    case WADI_ERR_INTERNAL: return "internal";
    }
    return "unknown";
}

WADI_PRINTF(3, 0)
static void set_text(WadiError *error, WadiStatus status, const char *format, va_list args)
{
    error->status = status;
    error->hint = WADI_HINT_NONE;
    error->hint_at = 0;
    /* Formatted into a buffer and then copied: an argument may point into error->text. */
    char text[WADI_ERROR_TEXT_SIZE];
    vsnprintf(text, sizeof text, format, args);
    memcpy(error->text, text, sizeof text);
    error->text[sizeof error->text - 1] = '\0';
}

WadiStatus wadi_fail(WadiError *error, WadiStatus status, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        set_text(error, status, format, args);
        va_end(args);
    }
    return status;
}

static const char *words_of(WadiHint hint)
{
    switch (hint) {
    case WADI_HINT_NONE: break;
    case WADI_HINT_HAS_FRAMES:
        return "WadiRunDef.mode WADI_RUN_RESUME continues them, WADI_RUN_OVERWRITE replaces them";
    case WADI_HINT_SCENE_CHANGED:
        return "WadiRunDef.from_frame continues from a frame with the new scene, WADI_RUN_OVERWRITE begins "
               "again";
    case WADI_HINT_FEWER_FRAMES: return "WadiRunDef.from_frame drops the later ones";
    case WADI_HINT_RESUME: return "remove the cause, then continue with WADI_RUN_RESUME";
    }
    return "";
}

WadiStatus wadi_fail_hint(WadiError *error, WadiStatus status, WadiHint hint, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        set_text(error, status, format, args);
        va_end(args);
        size_t used = strlen(error->text);
        error->hint = hint;
        error->hint_at = (int)used;
        snprintf(error->text + used, sizeof error->text - used, "; %s", words_of(hint));
    }
    return status;
}

WadiStatus wadi_fail_as(WadiError *error, const WadiError *from)
{
    if (error != NULL) {
        *error = *from;
    }
    return from->status;
}

static const char *advice_for(int errno_value)
{
    switch (errno_value) {
    case ENOSPC: return "; free some space";
#ifdef EDQUOT
    case EDQUOT: return "; the disk quota is used up: free some space";
#endif
    case EFBIG: return "; the file size limit (ulimit -f) is too small";
    case EROFS: return "; choose a folder that can be written";
    case EACCES:
    case EPERM: return "; check the owner and permissions, or choose another folder";
    case EMFILE:
    case ENFILE: return "; raise the limit of open files (ulimit -n)";
    default: return "";
    }
}

WadiStatus wadi_fail_errno(WadiError *error, int errno_value, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        set_text(error, WADI_ERR_IO, format, args);
        va_end(args);
        size_t used = strlen(error->text);
        snprintf(error->text + used, sizeof error->text - used, ": %s%s", strerror(errno_value),
                 advice_for(errno_value));
    }
    return WADI_ERR_IO;
}

WadiStatus wadi_fail_memory(WadiError *error, size_t size, const char *what)
{
    return wadi_fail(error, WADI_ERR_MEMORY, "out of memory: %s needs %.1f MiB", what,
                     (double)size / (1024.0 * 1024.0));
}
