// How many of the particles are drawn while something moves: all, each second, each fourth or each eighth. Fewer only where drawing is the
// limit: a picture takes longer than BUDGET, and longer than a share of the time between two pictures of the simulation. A person who
// turns the view or drags waits for the picture that is being drawn and for the next one: then BUDGET alone counts.

const BUDGET = 33; // ms
const QUICK = 18; // ms: twice as many would be drawn in time, as far as pictures that come 60 times a second can tell
const SHARE = 0.5; // of the time between two pictures
const STRIDE_MAX = 8;

export class Thinning {
  constructor() {
    this.budget = BUDGET;
    this.share = SHARE;
    this.reset();
  }

  reset() {
    this.stride = 1;
    this.slow = 0; // pictures in a row
    this.quick = 0;
    this.patience = 60; // quick pictures before more particles are tried
  }

  // A picture of each `stride`th particle took so long. between: ms between pictures of the simulation; 0: a person moves the view.
  measured(milliseconds, stride, between = 0) {
    if (stride !== this.stride) return; // a still picture of all, or the change came in between
    const wait = this.share * between;
    this.slow = milliseconds > Math.max(this.budget, wait) ? this.slow + 1 : 0;
    this.quick = milliseconds < Math.max(QUICK, 0.5 * wait) ? this.quick + 1 : 0;
    const patience = wait > this.budget ? 5 : this.patience; // pictures are few where the simulation is the limit
    if (this.slow >= 3 && this.stride < STRIDE_MAX) {
      if (this.triesMore) this.patience *= 2; // more were too many
      this.change(2 * this.stride, false);
    } else if (this.quick >= patience && this.stride > 1) {
      this.change(this.stride / 2, true);
    }
  }

  change(stride, triesMore) {
    this.stride = stride;
    this.triesMore = triesMore;
    this.slow = this.quick = 0;
  }
}
