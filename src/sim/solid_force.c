/* Forces on solids for programs and for the table of a run. */
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

static const char *const side_names[WADI_LOAD_SIDES] = {
    "x_min", "x_max", "y_min", "y_max", "z_min", "z_max"
};

int wadi_sim_solid_count(const WadiSim *sim)
{
    if (!sim->loads.is_reported || sim->world == NULL) {
        return 0;
    }
    return __builtin_popcount((unsigned)sim->world->solids.closed_sides) + sim->scene->collider_count;
}

/* Index in the arrays of the n-th solid that is there. */
static int load_of(const WadiSim *sim, int solid)
{
    for (int side = 0; side < WADI_LOAD_SIDES; ++side) {
        const bool is_closed = (sim->world->solids.closed_sides >> side & 1) != 0;
        if (is_closed && solid-- == 0) {
            return wadi_load_of_side(side);
        }
    }
    return wadi_load_of_collider(solid);
}

/* Whether a side of the domain or an earlier collider has the name already. */
static bool is_taken(const WadiScene *scene, int collider, const char *name)
{
    for (int side = 0; side < WADI_LOAD_SIDES; ++side) {
        if (strcmp(name, side_names[side]) == 0) {
            return true;
        }
    }
    for (int i = 0; i < collider; ++i) {
        if (scene->colliders[i].name != NULL && strcmp(name, scene->colliders[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* A collider without a name of its own has its number, so that tables tell all solids apart. */
static const char *name_of(const WadiScene *scene, int load)
{
    static _Thread_local char number[16];
    if (load < WADI_LOAD_SIDES) {
        return side_names[load];
    }
    const int collider = load - WADI_LOAD_SIDES;
    const char *name = scene->colliders[collider].name;
    if (name != NULL && !is_taken(scene, collider, name)) {
        return name;
    }
    snprintf(number, sizeof number, "%d", collider);
    return number;
}

static void put(double to[3], WadiVec3 from)
{
    to[0] = from.x, to[1] = from.y, to[2] = from.z;
}

WadiStatus wadi_sim_solid_force(const WadiSim *sim, int solid, WadiSolidForce *force, WadiError *error)
{
    *force = (WadiSolidForce){ .name = "" };
    WADI_TRY(wadi_sim_check_idle(sim, error));
    const int count = wadi_sim_solid_count(sim);
    if (solid < 0 || solid >= count) {
        return wadi_fail(error, WADI_ERR_ARGUMENT, "there is no solid %d; wadi_sim_solid_count gives %d",
                         solid, count);
    }
    const int load = load_of(sim, solid);
    const WadiSolidLoad *mean = &sim->loads.mean[load];
    force->collider = load < WADI_LOAD_SIDES ? -1 : load - WADI_LOAD_SIDES;
    force->name = name_of(sim->scene, load);
    put(force->pivot, wadi_solid_pivot(sim->scene, load, sim->time));
    put(force->pressure, mean->pressure);
    put(force->friction, mean->friction);
    put(force->pressure_torque, mean->pressure_torque);
    put(force->friction_torque, mean->friction_torque);
    return WADI_OK;
}

static const char *const HEADER =
    "frame,time,solid,pressure_x,pressure_y,pressure_z,friction_x,friction_y,friction_z,"
    "pressure_torque_x,pressure_torque_y,pressure_torque_z,friction_torque_x,friction_torque_y,"
    "friction_torque_z,pivot_x,pivot_y,pivot_z\n";

const char *wadi_sim_forces_header(void)
{
    return HEADER;
}

WadiStatus wadi_sim_forces_rows(const WadiSim *sim, WadiText *rows, WadiError *error)
{
    const int count = sim->frame > 1 ? wadi_sim_solid_count(sim) : 0;
    wadi_text_clear(rows);
    for (int i = 0; i < count; ++i) {
        WadiSolidForce f;
        WADI_TRY(wadi_sim_solid_force(sim, i, &f, error));
        const double *vectors[] = { f.pressure, f.friction, f.pressure_torque, f.friction_torque, f.pivot };
        wadi_text_printf(rows, "%d,", sim->frame);
        wadi_text_append_number(rows, sim->time);
        wadi_text_printf(rows, ",%s", f.name);
        for (size_t v = 0; v < sizeof vectors / sizeof *vectors; ++v) {
            for (int c = 0; c < 3; ++c) {
                wadi_text_append(rows, ",");
                wadi_text_append_number(rows, vectors[v][c]);
            }
        }
        wadi_text_append(rows, "\n");
    }
    return wadi_text_status(rows, error);
}
