/* The sizes of the public structs. tests/python compares the list with the headers. */
#include "wadi/wadi.h"

#define NAMED(type) .name = #type, .size = sizeof(type)

static const WadiAbiType types[] = {
    { NAMED(WadiAbiType) },
    { NAMED(WadiAllocator) },
    { NAMED(WadiAssertHook) },
    { NAMED(WadiBuffer) },
    { NAMED(WadiError) },
    { NAMED(WadiEstimate) },
    { NAMED(WadiExportDef) },
    { NAMED(WadiExportReport) },
    { NAMED(WadiFarmDef) },
    { NAMED(WadiFarmReport) },
    { NAMED(WadiLayoutDef) },
    { NAMED(WadiLayoutReport) },
    { NAMED(WadiLog) },
    { NAMED(WadiMeshAttribute) },
    { NAMED(WadiMeshData) },
    { NAMED(WadiMeshDef) },
    { NAMED(WadiParticleData) },
    { NAMED(WadiProfile) },
    { NAMED(WadiProgress) },
    { NAMED(WadiRenderDef) },
    { NAMED(WadiRenderReport) },
    { NAMED(WadiRunDef) },
    { NAMED(WadiRunInfo) },
    { NAMED(WadiRunMaterial) },
    { NAMED(WadiRunReport) },
    { NAMED(WadiRunStage) },
    { NAMED(WadiSceneDef) },
    { NAMED(WadiSecondaryOptions) },
    { NAMED(WadiSecondaryReport) },
    { NAMED(WadiSheetDef) },
    { NAMED(WadiSimDef) },
    { NAMED(WadiSliceDef) },
    { NAMED(WadiSolidForce) },
    { NAMED(WadiStop) },
    { NAMED(WadiSurfaceDef) },
    { NAMED(WadiSurfaceReport) },
    { NAMED(WadiTasks) },
    { NAMED(WadiTotals) },
    { NAMED(WadiView) },
    { NAMED(WadiWedgeDef) },
    { NAMED(WadiWedgeReport) },
};

const WadiAbiType *wadi_abi_types(int *count)
{
    *count = (int)(sizeof types / sizeof *types);
    return types;
}
