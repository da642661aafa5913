/* wadi in the loop of another program: its particles come from an array, its loops run in the program's own
 * threads, a solid follows what the program does, and each frame is read back as arrays. Build: cc -pthread
 * embed.c $(pkg-config --cflags --libs wadi) -o embed */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <wadi/wadi.h>

enum { THREADS = 4, SIDE = 20, COUNT = SIDE * SIDE * SIDE, FRAMES = 24 };

static const char scene_text[] =
    "{wadi: 1, solver: flip, cell_size: 0.02, fps: 24, materials: {water: {kind: water}},\n"
    " domain: {min: [0, 0, 0], max: [0.6, 0.2, 0.4]},\n"
    " colliders: [{name: paddle, shape: {box: {size: [0.04, 0.2, 0.2]}, translate: [0.5, 0.1, 0.1]}}]}\n";

/* The program's threads. They sleep on `begin` and take tasks of a loop until none is left. */
typedef struct Pool {
    pthread_t thread[THREADS - 1];
    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    WadiTask task;
    void *context;
    int count, loop, busy;
    atomic_int next;
    bool is_over;
} Pool;

static void take_tasks(Pool *pool)
{
    for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->count;) {
        pool->task(pool->context, i);
    }
}

static void *work(void *of)
{
    Pool *pool = of;
    pthread_mutex_lock(&pool->mutex);
    for (int loop = 0;; loop = pool->loop) {
        while (pool->loop == loop && !pool->is_over) {
            pthread_cond_wait(&pool->begin, &pool->mutex);
        }
        if (pool->is_over) {
            break;
        }
        loop = pool->loop;
        pthread_mutex_unlock(&pool->mutex);
        take_tasks(pool);
        pthread_mutex_lock(&pool->mutex);
        pool->busy -= 1;
        pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static void run_loop(void *user, int count, WadiTask task, void *context)
{
    Pool *pool = user;
    pthread_mutex_lock(&pool->mutex);
    pool->task = task, pool->context = context, pool->count = count;
    pool->loop += 1, pool->busy = THREADS - 1;
    atomic_store(&pool->next, 0);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->mutex);
    take_tasks(pool);
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0) {
        pthread_cond_wait(&pool->end, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
}

/* A cube of water of 20 cm, a particle each centimetre. */
static WadiStatus add_water(WadiSim *sim, WadiError *error)
{
    static double position[3 * COUNT];
    for (int i = 0; i < COUNT; ++i) {
        const int cell[3] = { i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE };
        for (int a = 0; a < 3; ++a) {
            position[3 * i + a] = 0.01 * (cell[a] + 0.5);
        }
    }
    WadiParticleData data = wadi_default_particle_data();
    data.count = COUNT;
    data.position = position;
    return wadi_sim_add_points(sim, &data, NULL, error);
}

/* The paddle swings by what would be the program's input; the front of the water and the force on the paddle
 * are its output. */
static WadiStatus next_frame(WadiSim *sim, int frame, WadiError *error)
{
    const int beat = frame % 12;
    const double to[3] = { 0.45 + 0.1 * (beat < 6 ? beat : 12 - beat) / 6.0, 0.1, 0.1 };
    WadiStatus status = wadi_sim_move_collider(sim, "paddle", to, 1.0 / 24.0, error);
    if (status == WADI_OK) {
        status = wadi_sim_step_frame(sim, error);
    }
    WadiView position;
    if (status == WADI_OK) {
        status = wadi_sim_view(sim, "position", &position, error);
    }
    WadiSolidForce force;
    if (status == WADI_OK) {
        status = wadi_sim_solid_force(sim, wadi_sim_solid_count(sim) - 1, &force, error);
    }
    double front = 0.0;
    for (size_t i = 0; status == WADI_OK && i < position.count; ++i) {
        double x;
        memcpy(&x, (const char *)position.data[0] + i * position.stride, sizeof x);
        front = x > front ? x : front;
    }
    if (status == WADI_OK) {
        printf("frame %2d: %zu particles, front at %.3f m, force on the paddle %6.2f N\n", frame,
               position.count, front, force.pressure[0]);
    }
    return status;
}

int main(void)
{
    Pool pool = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                  .begin = PTHREAD_COND_INITIALIZER,
                  .end = PTHREAD_COND_INITIALIZER };
    WadiError error;
    WadiScene *scene = NULL;
    WadiSim *sim = NULL;
    WadiSceneDef scene_def = wadi_default_scene_def();
    WadiSimDef sim_def = wadi_default_sim_def();
    scene_def.text = scene_text;
    scene_def.may_be_empty = true;
    sim_def.threads = THREADS;
    sim_def.tasks = (WadiTasks){ .run = run_loop, .user = &pool };
    for (int i = 0; i < THREADS - 1; ++i) {
        if (pthread_create(&pool.thread[i], NULL, work, &pool) != 0) {
            fprintf(stderr, "no thread could be started\n");
            return 1;
        }
    }
    WadiStatus status = wadi_scene_load(&scene, &scene_def, &error);
    if (status == WADI_OK) {
        status = wadi_sim_create(&sim, scene, &sim_def, &error);
    }
    if (status == WADI_OK) {
        status = add_water(sim, &error);
    }
    for (int frame = 2; frame <= FRAMES && status == WADI_OK; ++frame) {
        status = next_frame(sim, frame, &error);
    }
    if (status != WADI_OK) {
        fprintf(stderr, "%s: %s\n", wadi_status_name(status), error.text);
    }
    wadi_sim_destroy(sim);
    wadi_scene_destroy(scene);
    pthread_mutex_lock(&pool.mutex);
    pool.is_over = true;
    pthread_cond_broadcast(&pool.begin);
    pthread_mutex_unlock(&pool.mutex);
    for (int i = 0; i < THREADS - 1; ++i) {
        pthread_join(pool.thread[i], NULL);
    }
    return status == WADI_OK ? 0 : 1;
}
