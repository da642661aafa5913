/* A call of wadi_render: the loop over its pictures, and the video and sheet that are made of them. */
#ifndef WADI_API_RENDER_JOB_H
#define WADI_API_RENDER_JOB_H

#include "api/render/render_picture.h"

typedef struct WadiRenderJob {
    WadiRenderPlan plan;
    WadiPictureMaker maker;
    WadiOutputIndex outputs;
    WadiRenderReport *report;
    double start; /* s */
} WadiRenderJob;

/* Draws a picture or finds it there, and reports it. */
WadiStatus wadi_render_job_picture(WadiRenderJob *job, int frame, WadiError *error);
/* Reports a picture, which the last call of wadi_picture_make made unless it is kept. */
void wadi_render_job_report(WadiRenderJob *job, int frame, bool is_kept);

/* Refuses to replace videos and sheets of others, before hours of drawing. */
WadiStatus wadi_render_products_claim(const WadiRenderJob *job, WadiError *error);
bool wadi_render_products_wanted(const WadiRenderJob *job);
/* Makes video and contact sheet from the picture files. */
WadiStatus wadi_render_products_make(WadiRenderJob *job, WadiError *error);
/* Whether they are there, as wadi_render_products_mark recorded with this key, and fills the report. */
bool wadi_render_products_are_made(const WadiRenderJob *job, uint64_t key);
WadiStatus wadi_render_products_mark(const WadiRenderJob *job, uint64_t key, WadiError *error);

/* The loop of WadiRenderDef.is_shared. */
WadiStatus wadi_render_shared(WadiRenderJob *job, WadiError *error);

#endif
