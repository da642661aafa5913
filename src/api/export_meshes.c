#include "api/export_job.h"

WadiStatus wadi_export_meshes(WadiExportJob *job, const char *run, WadiError *error)
{
    (void)job;
    (void)run;
    return wadi_fail(error, WADI_ERR_UNSUPPORTED, "not yet");
}
