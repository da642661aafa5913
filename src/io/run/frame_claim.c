#include "io/run/frame_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/status.h"
#include "core/timer.h"

enum {
    GENERATION_MAX = 1000,
    BEATS = 6,          /* touches in the stale time */
    MOMENT = 200000000, /* ns, between two looks at `stop` */
    SECOND = 1000000000
};

static void item_path(const WadiClaims *claims, WadiClaim claim, char path[WADI_PATH_SIZE])
{
    char item[16];
    snprintf(item, sizeof item, "%04d", claim.item);
    snprintf(path, WADI_PATH_SIZE, "%.3400s/.wadi-claim-%.500s.%s-%d", claims->folder, claims->name,
             claim.item == WADI_CLAIM_PLAN       ? "plan"
             : claim.item == WADI_CLAIM_PRODUCTS ? "products"
                                                 : item,
             claim.generation);
}

static double seconds_between(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* From the last: a process that looks meanwhile finds an older claim or none, and then the finished files. */
static void remove_files(const WadiClaims *claims, WadiClaim claim)
{
    for (; claim.generation > 0; --claim.generation) {
        char path[WADI_PATH_SIZE];
        item_path(claims, claim, path);
        unlink(path);
    }
}

static void touch(const WadiClaims *claims)
{
    for (size_t i = 0; i < claims->held.count; ++i) {
        char path[WADI_PATH_SIZE];
        item_path(claims, claims->held.data[i], path);
        utimensat(AT_FDCWD, path, NULL, 0); /* the server's time */
    }
}

static void release_all(WadiClaims *claims)
{
    for (size_t i = 0; i < claims->held.count; ++i) {
        remove_files(claims, claims->held.data[i]);
    }
    claims->held.count = 0;
}

static void *keep_alive(void *context)
{
    WadiClaims *claims = context;
    double touched = wadi_time_now();
    pthread_mutex_lock(&claims->mutex);
    while (!claims->is_ending) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += MOMENT;
        until.tv_sec += until.tv_nsec / SECOND;
        until.tv_nsec %= SECOND;
        pthread_cond_timedwait(&claims->ended, &claims->mutex, &until);
        if (wadi_stop_requested(claims->stop)) {
            release_all(claims);
        } else if (wadi_time_now() - touched > claims->stale / BEATS) {
            touched = wadi_time_now();
            touch(claims);
        }
    }
    pthread_mutex_unlock(&claims->mutex);
    return NULL;
}

WadiStatus wadi_claims_open(WadiClaims *claims, const char *folder, const char *name, double stale,
                            WadiStop stop, WadiError *error)
{
    *claims = (WadiClaims){
        .stale = stale, .stop = stop, .mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER
    };
    snprintf(claims->folder, sizeof claims->folder, "%s", folder);
    snprintf(claims->name, sizeof claims->name, "%s", name);
    const int problem = pthread_create(&claims->thread, NULL, keep_alive, claims);
    claims->is_running = problem == 0;
    return problem == 0 ? WADI_OK : wadi_fail_errno(error, problem, "cannot start a thread");
}

void wadi_claims_close(WadiClaims *claims)
{
    if (claims->is_running) {
        pthread_mutex_lock(&claims->mutex);
        claims->is_ending = true;
        pthread_cond_signal(&claims->ended);
        pthread_mutex_unlock(&claims->mutex);
        pthread_join(claims->thread, NULL);
        claims->is_running = false;
    }
    release_all(claims);
    WADI_ARRAY_FREE(&claims->held);
}

void wadi_claim_release(WadiClaims *claims, int item)
{
    pthread_mutex_lock(&claims->mutex);
    for (size_t i = 0; i < claims->held.count; ++i) {
        if (claims->held.data[i].item == item) {
            remove_files(claims, claims->held.data[i]);
            claims->held.data[i] = claims->held.data[--claims->held.count];
            break;
        }
    }
    pthread_mutex_unlock(&claims->mutex);
}

/* The claim as a file with a name that no other process uses. */
static WadiStatus write_draft(const WadiClaims *claims, char path[WADI_PATH_SIZE], struct stat *info,
                              WadiError *error)
{
    char host[128] = "?", since[40], text[256];
    gethostname(host, sizeof host - 1);
    const time_t now = time(NULL);
    struct tm utc;
    strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    const int length =
        snprintf(text, sizeof text, "process %ld on %s since %s\n", (long)getpid(), host, since);
    struct timespec unique; /* machines may have the same name */
    clock_gettime(CLOCK_REALTIME, &unique);
    snprintf(path, WADI_PATH_SIZE, "%.3400s/.wadi-claim-draft-%s-%ld-%ld", claims->folder, host,
             (long)getpid(), unique.tv_nsec);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)0666);
    if (fd < 0) {
        return wadi_fail_errno(error, errno, "cannot write %s", path);
    }
    errno = ENOSPC; /* for a short write, which sets no errno */
    bool is_good = write(fd, text, (size_t)length) == length && futimens(fd, NULL) == 0;
    is_good = fstat(fd, info) == 0 && is_good;
    is_good = close(fd) == 0 && is_good;
    return is_good ? WADI_OK : wadi_fail_errno(error, errno, "cannot write %s", path);
}

/* 0, or the errno: EEXIST when another process has it. */
static int create_exclusively(const char *draft, const char *path)
{
    struct stat info;
    if (link(draft, path) == 0 || (stat(draft, &info) == 0 && info.st_nlink == 2)) {
        return 0; /* NFS may report a failure although it linked */
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) {
        return errno;
    }
    /* A file system without links. */
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)0666);
    const int problem = fd < 0 ? errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return problem;
}

/* Whether the claim was touched within the stale time before `now`. An open makes NFS ask the server. */
static bool is_fresh(const WadiClaims *claims, const char *path, struct timespec now, WadiLockHolder *holder)
{
    char text[256] = "";
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *holder = (WadiLockHolder){ "?", "?", "?", "" };
    if (fd < 0) {
        return true; /* it was released this moment */
    }
    const ssize_t got = read(fd, text, sizeof text - 1);
    const bool is_there = fstat(fd, &info) == 0;
    close(fd);
    if (got > 0) {
        sscanf(text, "process %23[0-9] on %127[^ \n] since %39[^ \n]", holder->pid, holder->host,
               holder->since);
    }
    return is_there && seconds_between(info.st_mtim, now) < claims->stale;
}

static WadiStatus try_generations(WadiClaims *claims, WadiClaim *claim, const char *draft,
                                  struct timespec now, bool *is_mine, WadiLockHolder *holder,
                                  WadiError *error)
{
    for (claim->generation = 1; claim->generation <= GENERATION_MAX; ++claim->generation) {
        char path[WADI_PATH_SIZE];
        item_path(claims, *claim, path);
        const int problem = create_exclusively(draft, path);
        *is_mine = problem == 0;
        if (problem != 0 && problem != EEXIST) {
            return wadi_fail_errno(error, problem, "cannot write %s", path);
        }
        if (*is_mine || is_fresh(claims, path, now, holder)) {
            return WADI_OK;
        }
    }
    return wadi_fail(error, WADI_ERR_IO, "%s: %d processes that began '%s' ended before it was done",
                     claims->folder, GENERATION_MAX, claims->name);
}

WadiStatus wadi_claim_take(WadiClaims *claims, int item, bool *is_mine, WadiLockHolder *holder,
                           WadiError *error)
{
    char draft[WADI_PATH_SIZE];
    struct stat info = { 0 };
    WadiClaim claim = { .item = item };
    *is_mine = false;
    WADI_TRY(write_draft(claims, draft, &info, error));
    pthread_mutex_lock(&claims->mutex);
    WadiStatus status = try_generations(claims, &claim, draft, info.st_mtim, is_mine, holder, error);
    unlink(draft);
    if (status == WADI_OK && *is_mine) {
        status = WADI_ARRAY_PUSH(&claims->held, claim, "claims of frames", error);
        if (status != WADI_OK) {
            remove_files(claims, claim);
            *is_mine = false;
        }
    }
    pthread_mutex_unlock(&claims->mutex);
    return status;
}
