/* The sizes of the public structs. tests/python compares the list with the headers. */
#include "wadi/wadi.h"

#define TYPE(name)                                                                                           \
    {                                                                                                        \
#name, sizeof(name)                                                                                  \
    }

static const WadiAbiType types[] = {
    TYPE(WadiAbiType),
    TYPE(WadiAllocator),
    TYPE(WadiAssertHook),
    TYPE(WadiBuffer),
    TYPE(WadiError),
    TYPE(WadiEstimate),
    TYPE(WadiExportDef),
    TYPE(WadiExportReport),
    TYPE(WadiFarmDef),
    TYPE(WadiFarmReport),
    TYPE(WadiLayoutDef),
    TYPE(WadiLayoutReport),
    TYPE(WadiLog),
    TYPE(WadiMeshAttribute),
    TYPE(WadiMeshData),
    TYPE(WadiMeshDef),
    TYPE(WadiParticleData),
    TYPE(WadiProfile),
    TYPE(WadiProgress),
    TYPE(WadiRenderDef),
    TYPE(WadiRenderReport),
    TYPE(WadiRunDef),
    TYPE(WadiRunInfo),
    TYPE(WadiRunMaterial),
    TYPE(WadiRunReport),
    TYPE(WadiRunStage),
    TYPE(WadiSceneDef),
    TYPE(WadiSecondaryOptions),
    TYPE(WadiSecondaryReport),
    TYPE(WadiSheetDef),
    TYPE(WadiSimDef),
    TYPE(WadiSliceDef),
    TYPE(WadiSolidForce),
    TYPE(WadiSurfaceDef),
    TYPE(WadiSurfaceReport),
    TYPE(WadiView),
    TYPE(WadiWedgeDef),
    TYPE(WadiWedgeReport),
};

const WadiAbiType *wadi_abi_types(int *count)
{
    *count = (int)(sizeof types / sizeof *types);
    return types;
}
