// How many of the particles are drawn while something moves: all, each second, each fourth or each eighth, so that a picture takes no
// longer than BUDGET. A person who drags waits for the picture that is being drawn and for the next one.

const BUDGET = 33; // ms
const QUICK = 18; // ms: twice as many would be drawn in time, as far as pictures that come 60 times a second can tell
const STRIDE_MAX = 8;

export class Thinning {
  constructor() {
    this.budget = BUDGET;
    this.reset();
  }

  reset() {
    this.stride = 1;
    this.slow = 0; // pictures in a row
    this.quick = 0;
    this.patience = 60; // quick pictures before more particles are tried
  }

  // A picture of each `stride`th particle took so long.
  measured(milliseconds, stride) {
    if (stride !== this.stride) return; // a still picture of all, or the change came in between
    this.slow = milliseconds > this.budget ? this.slow + 1 : 0;
    this.quick = milliseconds < QUICK ? this.quick + 1 : 0;
    if (this.slow >= 3 && this.stride < STRIDE_MAX) {
      if (this.triesMore) this.patience *= 2; // more were too many
      this.change(2 * this.stride, false);
    } else if (this.quick >= this.patience && this.stride > 1) {
      this.change(this.stride / 2, true);
    }
  }

  change(stride, triesMore) {
    this.stride = stride;
    this.triesMore = triesMore;
    this.slow = this.quick = 0;
  }
}
