/* Changes of a running simulation: values of its scene, solids that move, particles added and removed, water
 * in sand.
 *
 * A change takes effect before the next step and is recorded with the number of steps taken so far. The
 * record is part of checkpoints, and repeating it on a new simulation of the same scene gives the same
 * states. A call that fails changes nothing and records nothing. Experimental: functions may still change. */
#ifndef WADI_CHANGE_H
#define WADI_CHANGE_H

#include "wadi/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets a value of the scene, as the option --set of the command does: "materials.sand.friction_angle=25",
 * "gravity=[0, 0, -1.6]", "domain.walls.friction=0.2", "flip.cfl=2". Not what the particles were made with:
 * solver, cell size, particles per cell, fps, seed, the domain's box, the number and kinds of the materials,
 * the number of emitters. WADI_ERR_SCENE: the value is wrong; WADI_ERR_ARGUMENT: it cannot change now. */
WADI_API WadiStatus wadi_sim_set(WadiSim *sim, const char *assignment, WadiError *error);

/* Adds a solid, written as an entry of `colliders` in a scene: "{name: ball, shape: {sphere: {radius:
 * 0.1}}}". */
WADI_API WadiStatus wadi_sim_add_collider(WadiSim *sim, const char *collider, WadiError *error);
/* Moves the collider of that name (or number, "0") from where it is to the translation `to`, m, in a straight
 * line during the next `duration` seconds; then it rests. 0: it jumps there and does not push. Other motions
 * are keyframes that wadi_sim_set gives: "colliders[0].shape.rotate={keys: [[1, [0, 0, 0]], [2, [0, 0,
 * 90]]]}", and it removes colliders with the list of those that stay: "colliders=[]". */
WADI_API WadiStatus wadi_sim_move_collider(WadiSim *sim, const char *collider, const double to[3],
                                           double duration, WadiError *error);

/* Adds the particles of a body, written as an entry of `bodies`: "{material: sand, shape: {sphere: {center:
 * [0, 0, 1], radius: 0.1}}, velocity: [0, 0, -1]}". Places inside solids or nearer than 3/4 of the particles'
 * spacing to a present particle stay empty. *added may be NULL. */
WADI_API WadiStatus wadi_sim_add_particles(WadiSim *sim, const char *body, int64_t *added, WadiError *error);
/* Adds particles at given positions: position, velocity and material of the data are used, the others must
 * stay 0. Those inside solids, beyond closed walls or nearer than 3/4 of the spacing to a present particle
 * are left out; among themselves they should lie about a spacing apart. Recorded with 54 bytes a particle.
 * *added may be NULL. WADI_ERR_ARGUMENT names the first particle with a value that is not finite. */
WADI_API WadiStatus wadi_sim_add_points(WadiSim *sim, const WadiParticleData *particles, int64_t *added,
                                        WadiError *error);
/* How many particles wadi_sim_add_particles would add at most, roughly: fast, and without large memory. It
 * refuses a body that cannot fit into the free memory, WADI_ERR_MEMORY. */
WADI_API WadiStatus wadi_sim_expect_particles(const WadiSim *sim, const char *body, double *count,
                                              WadiError *error);
/* Removes the particles inside a shape, of all materials or of one: "{shape: {sphere: {radius: 0.1}}}",
 * "{material: sand, shape: …}". They count as drained. *removed may be NULL. */
WADI_API WadiStatus wadi_sim_remove_particles(WadiSim *sim, const char *region, int64_t *removed,
                                              WadiError *error);

/* Sets how much of the pores of a material of sand is water, 0 to 1: of all its particles, and of those that
 * its emitters add later. Of solvers with water in sand (sph, dem); others refuse it. */
WADI_API WadiStatus wadi_sim_set_saturation(WadiSim *sim, const char *material, double saturation,
                                            WadiError *error);

/* The record so far: YAML, one change a line, "- {step: 12, set: …}"; empty without changes. Release the text
 * with wadi_text_release. */
WADI_API WadiStatus wadi_sim_changes(const WadiSim *sim, char **text, WadiError *error);
/* Repeats a record: each change is applied before the step of its number. A simulation from a checkpoint
 * repeats what follows the changes it has; the text must begin with those. Steps fail where a change does. */
WADI_API WadiStatus wadi_sim_repeat_changes(WadiSim *sim, const char *text, WadiError *error);
/* Applies those that the next step would apply before it begins. */
WADI_API WadiStatus wadi_sim_apply_due(WadiSim *sim, WadiError *error);

#ifdef __cplusplus
}
#endif
#endif
