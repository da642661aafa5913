/* ffmpeg reads the PNG files one after the other from a pipe: no list of names, no shell, and any folder and
 * numbering. Its messages go to an unnamed file, so that it never blocks on a reader. */
#include "render/image/video.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/check.h"
#include "core/status.h"
#include "io/files/files.h"
#include "render/image/image.h"
#include "render/image/video_check.h"

enum {
    CHUNK = 1 << 16,
    LINE_SIZE = 512,
    LOG_MAX = 1 << 14,
    PICTURE_LIMIT = 1 << 30,
    MARGIN = 1 << 20, /* bytes: a disk with less free space is full */
};

typedef struct Encoder {
    pid_t pid;
    int input; /* its standard input; -1: closed */
    FILE *log; /* its standard error */
} Encoder;

typedef struct Command {
    char rate[32];
    const char *words[40];
    int count;
} Command;

static void add(Command *command, const char *const *words)
{
    for (; *words != NULL; ++words) {
        command->words[command->count++] = *words;
    }
}

static void make_command(Command *command, const WadiVideoDef *def, const char *path)
{
    static const char *const first[] = { "ffmpeg",     "-nostdin", "-loglevel", "error",      "-y", "-f",
                                         "image2pipe", "-c:v",     "png",       "-framerate", NULL };
    /* yuv420p needs even sides: an odd one gets one more row or column of black. */
    static const char pad[] = "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv";
    static const char *const video[] = { "-vf",
                                         pad,
                                         "-c:v",
                                         "libx264",
                                         "-preset",
                                         "medium",
                                         "-crf",
                                         "18",
                                         "-pix_fmt",
                                         "yuv420p",
                                         "-colorspace",
                                         "bt709",
                                         "-color_primaries",
                                         "bt709",
                                         "-color_trc",
                                         "bt709",
                                         "-movflags",
                                         "+faststart",
                                         "-f",
                                         "mp4",
                                         NULL };
    static const char *const gif[] = {
        "-vf",
        "scale='min(640,iw)':-1:flags=lanczos,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=bayer",
        "-f", "gif", NULL
    };
    snprintf(command->rate, sizeof command->rate, "%.6g", def->fps);
    add(command, first);
    add(command, (const char *const[]){ command->rate, "-i", "pipe:0", NULL });
    add(command, def->is_gif ? gif : video);
    add(command, (const char *const[]){ path, NULL });
}

static WadiStatus fail_spawn(int problem, WadiError *error)
{
    if (problem == ENOENT || problem == ENOTDIR || problem == EACCES) {
        return wadi_fail(
            error, WADI_ERR_UNSUPPORTED,
            "no video: the program ffmpeg is not installed; get it (apt-get install ffmpeg), then "
            "give the same command again: the pictures are kept");
    }
    return wadi_fail_errno(error, problem, "cannot start ffmpeg");
}

/* Starts ffmpeg with pipe[0] as standard input, the log as standard error and default signals. */
static int spawn(Encoder *encoder, const Command *command, const int pipe[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int problem = posix_spawn_file_actions_init(&actions);
    if (problem != 0) {
        return problem;
    }
    problem = posix_spawnattr_init(&attributes);
    if (problem == 0) {
        sigset_t none, usual;
        sigemptyset(&none);
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &usual);
        /* Ctrl-C must not reach ffmpeg: this process ends it in order */
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        posix_spawn_file_actions_adddup2(&actions, pipe[0], STDIN_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, fileno(encoder->log), STDERR_FILENO);
        char *const *words = (char *const *)(uintptr_t)command->words;
        problem = posix_spawnp(&encoder->pid, "ffmpeg", &actions, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return problem;
}

static WadiStatus start(Encoder *encoder, const Command *command, WadiError *error)
{
    int ends[2];
    encoder->log = tmpfile();
    if (encoder->log == NULL) {
        return wadi_fail_errno(error, errno, "cannot make a temporary file for what ffmpeg says");
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        WadiStatus status = wadi_fail_errno(error, errno, "cannot make a pipe to ffmpeg");
        fclose(encoder->log);
        return status;
    }
    int problem = spawn(encoder, command, ends);
    close(ends[0]);
    if (problem != 0) {
        close(ends[1]);
        fclose(encoder->log);
        return fail_spawn(problem, error);
    }
    encoder->input = ends[1];
    return WADI_OK;
}

/* False when ffmpeg has closed its input. */
static bool feed(const Encoder *encoder, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(encoder->input, bytes, size < CHUNK ? size : CHUNK);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return true;
}

static WadiStatus feed_pictures(const Encoder *encoder, const WadiVideoDef *def, WadiError *error)
{
    for (int i = 0; i < def->picture_count; ++i) {
        if (wadi_stop_requested(def->stop)) {
            return wadi_fail(error, WADI_ERR_STOPPED, "stopped before the video was done");
        }
        char *bytes;
        size_t size;
        WADI_TRY(wadi_file_read(def->pictures[i], PICTURE_LIMIT, &bytes, &size, error));
        bool is_whole = wadi_image_png_is_whole(bytes, size);
        bool is_fed = is_whole && feed(encoder, bytes, size);
        wadi_free(bytes, size + 1, 1);
        if (!is_whole) {
            return wadi_fail(error, WADI_ERR_IO,
                             "no video: the picture %s is damaged; remove it and give the same command again",
                             def->pictures[i]);
        }
        if (!is_fed) {
            break; /* its exit status and log give the reason */
        }
    }
    return WADI_OK;
}

/* The last line that is not empty. */
static void last_line(FILE *log, char line[LINE_SIZE])
{
    char text[LOG_MAX];
    long end = fseek(log, 0, SEEK_END) == 0 ? ftell(log) : 0;
    long from = end > LOG_MAX - 1 ? end - (LOG_MAX - 1) : 0;
    size_t length = fseek(log, from, SEEK_SET) == 0 ? fread(text, 1, sizeof text - 1, log) : 0;
    while (length > 0 && strchr("\n\r ", text[length - 1]) != NULL) {
        --length;
    }
    text[length] = '\0';
    const char *newline = strrchr(text, '\n');
    snprintf(line, LINE_SIZE, "%.500s", newline != NULL ? newline + 1 : text);
}

/* Closes ffmpeg's input and waits for its exit. */
static WadiStatus finish(Encoder *encoder, bool is_good, WadiError *error)
{
    if (!is_good) {
        kill(encoder->pid, SIGTERM);
    }
    close(encoder->input);
    int code = 0;
    while (waitpid(encoder->pid, &code, 0) < 0 && errno == EINTR) {
    }
    char line[LINE_SIZE];
    last_line(encoder->log, line);
    fclose(encoder->log);
    if (!is_good || (WIFEXITED(code) && WEXITSTATUS(code) == 0)) {
        return WADI_OK;
    }
    if (WIFEXITED(code) && WEXITSTATUS(code) == 127 && line[0] == '\0') {
        return fail_spawn(ENOENT, error); /* without vfork, spawn reports a missing program this way */
    }
    return wadi_fail(error, WADI_ERR_IO, "no video: ffmpeg failed%s%s", line[0] != '\0' ? ": " : "", line);
}

/* Checks that the file is on the disk and complete. */
static WadiStatus verify(const char *temporary, const WadiVideoDef *def, WadiError *error)
{
    WadiError problem = { 0 };
    int fd = open(temporary, O_RDONLY | O_CLOEXEC);
    bool is_flushed = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    int number = errno;
    if (fd >= 0) {
        close(fd);
    }
    if (!is_flushed) {
        return wadi_fail_errno(error, number, "no video: what ffmpeg wrote did not reach the disk");
    }
    return wadi_video_check(temporary, def->is_gif, def->picture_count, &problem) == WADI_OK
               ? WADI_OK
               : wadi_fail(error, WADI_ERR_IO, "no video: ffmpeg ended without an error, but %s",
                           problem.text);
}

/* Adds the full disk as the reason, since ffmpeg's own message would be about its codecs. */
static WadiStatus explain_full_disk(WadiStatus status, const char *path, uint64_t size, WadiError *error)
{
    struct statvfs disk;
    char folder[WADI_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    snprintf(slash != NULL ? slash : folder, 3, slash == folder ? "/" : slash != NULL ? "" : ".");
    if (status != WADI_ERR_IO || error == NULL || statvfs(folder, &disk) != 0) {
        return status;
    }
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (free_bytes <= size + MARGIN) {
        WadiError inner = *error;
        wadi_fail(error, status,
                  "%.2000s\nthe disk of %.1500s is full (%.1f MB are left): free some space and give the "
                  "same command "
                  "again; the pictures are kept",
                  inner.text, folder, (double)free_bytes * 1e-6);
    }
    return status;
}

/* Blocks SIGPIPE in this thread, so that writing to an ended ffmpeg is an error instead of the end of this
 * program. A pending signal is consumed. */
typedef struct SigpipeBlock {
    sigset_t pipe, before;
    bool was_pending;
} SigpipeBlock;

static void block_sigpipe(SigpipeBlock *block)
{
    sigset_t pending;
    sigemptyset(&block->pipe);
    sigaddset(&block->pipe, SIGPIPE);
    sigpending(&pending);
    block->was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &block->pipe, &block->before);
}

static void unblock_sigpipe(const SigpipeBlock *block)
{
    struct timespec now = { 0 };
    while (!block->was_pending && sigtimedwait(&block->pipe, NULL, &now) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &block->before, NULL);
}

WadiStatus wadi_video_write(const char *path, const WadiVideoDef *def, WadiError *error)
{
    WADI_ASSERT_TRY(def->picture_count > 0 && def->fps > 0.0, error);
    char temporary[WADI_PATH_SIZE];
    int length = snprintf(temporary, sizeof temporary, "%s.tmp-%ld", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "the path of the video is too long");
    }
    Command command = { 0 };
    /* ffmpeg would not take a name with a leading dash or a colon for a file. */
    char output[WADI_PATH_SIZE + 8];
    snprintf(output, sizeof output, "file:%s", temporary);
    make_command(&command, def, output);
    Encoder encoder = { .input = -1 };
    SigpipeBlock block;
    block_sigpipe(&block);
    WadiStatus status = start(&encoder, &command, error);
    if (status == WADI_OK) {
        status = feed_pictures(&encoder, def, error);
        WadiStatus ended = finish(&encoder, status == WADI_OK, status == WADI_OK ? error : NULL);
        status = status == WADI_OK ? ended : status;
    }
    unblock_sigpipe(&block);
    if (status == WADI_OK) {
        status = verify(temporary, def, error);
    }
    if (status == WADI_OK && rename(temporary, path) != 0) {
        status = wadi_fail_errno(error, errno, "cannot write %s", path);
    }
    if (status != WADI_OK) {
        struct stat info;
        uint64_t size = stat(temporary, &info) == 0 ? (uint64_t)info.st_size : 0;
        explain_full_disk(status, path, size, error);
        unlink(temporary);
    }
    return status;
}
