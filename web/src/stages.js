// The stages of a step, one at a time: name, equation, what it does. docs/theory.md derives them.

const COMMON = {
  emit: ["x ∈ emitter, v = v₀", "Emitters add particles."],
  drain: ["x ∈ drain: removed", "Drains and open sides remove particles."],
  pack: ["", "Poured particles move apart to their proper distance."],
  account: ["Σ m = m₀ + m_in − m_out", "Counts what was born and drained."],
};

const EQUATIONS = {
  flip: {
    sort: ["cell = ⌊x / Δx⌋", "Particles are sorted by the cell that they are in."],
    grid: ["", "Cells near particles get grid faces; all others cost nothing."],
    "particles to grid": ["u_f = Σ w_fp m_p v_p / Σ w_fp m_p", "Velocities of the particles are averaged on the faces of the grid (PIC/FLIP)."],
    "save velocity": ["u* = u", "A copy, so that FLIP can add the change of the grid to the particles."],
    forces: ["u ← u + Δt g", "Gravity, wind and other forces act on the grid."],
    solids: ["u·n = u_solid·n", "Faces in colliders get the velocity of the solid."],
    label: ["liquid, air, solid", "Cells with particles are liquid, those whose middle is in a collider solid, others air."],
    "density correction": ["∇·u = (n/n₀ − 1)/Δt", "Where particles are too dense the flow diverges, so that the volume returns."],
    "surface tension": ["f = σ κ δ n", "Tension pulls the surface towards smaller curvature."],
    viscosity: ["ρ (u − u*)/Δt = ∇·μ(∇u + ∇uᵀ)", "One implicit system for thick liquids."],
    pressure: ["∇·(Δt/ρ ∇p) = ∇·u*,  u = u* − Δt/ρ ∇p", "The pressure that makes the velocity free of divergence: nothing is compressed."],
    "grain pressure": ["p ≥ 0", "Pressure between grains: sand pushes, and does not pull."],
    "friction set-up": ["ε̇ = ½(∇u + ∇uᵀ)", "Rates of strain and the limits of the stress in each cell."],
    friction: ["|σ| ≤ μ p + c", "Friction of sand: the stress that takes the most energy within the yield limit."],
    "wall friction": ["|f_t| ≤ μ_w f_n", "Coulomb friction on walls and colliders."],
    extend: ["", "Velocities are continued into the air beside the material, where particles may go."],
    "grid to particles": ["v_p ← α (v_p + u − u*) + (1 − α) u", "FLIP adds the change of the grid, PIC takes the grid; α is the FLIP share."],
    displacement: ["dx/dt = u(x, t)", "The path of each particle in the velocity of the grid."],
    separation: ["|x_i − x_j| ≥ d", "Pairs closer than their diameter are pushed apart."],
    "forces on solids": ["F = ∮ (−p n + τ) dA", "Forces of the material on colliders."],
    sleep: ["", "Material at rest is left out until something disturbs it."],
  },
  sph: {
    sort: ["cell = ⌊x / h⌋", "Particles are sorted by cells."],
    neighbours: ["|x_i − x_j| < h", "Pairs within the radius of the kernel."],
    pressure: ["ρ_i = Σ m_j W_ij;  a_i = −Σ m_j (p_i/ρ_i² + p_j/ρ_j²) ∇W_ij", "Pressures that keep the density at rest density, by iteration."],
    viscosity: ["a_i = ν Σ m_j (v_j − v_i)/ρ_j ∇²W_ij", "Neighbours come to equal velocities."],
    friction: ["|σ| ≤ μ p + c", "Friction and cohesion of sand within the yield limit."],
    porous: ["q = −k/μ ∇(p + ψ)", "Water flows through the pores of sand (Darcy), drawn by suction."],
    tension: ["a = −γ/m Σ (x_i − x_j) W", "Cohesion of the liquid's surface."],
    forces: ["v ← v + Δt g", "Gravity and other forces."],
    walls: ["v·n ≥ 0", "Particles do not enter solids."],
    move: ["x ← x + Δt v", "Particles move."],
    resample: ["", "Particles split near the surface and merge inside."],
    wet: ["S = m_w / m_pores", "Saturation of the sand."],
    sleep: ["", "Material at rest is left out."],
  },
  dem: {
    list: ["|x_i − x_j| < 2r + skin", "The list of pairs that may touch (Verlet)."],
    contacts: ["F_n = k δ + γ δ̇,  |F_t| ≤ μ F_n", "Springs, damping and friction between grains that touch."],
    walls: ["F_n = k δ + γ δ̇", "The same against walls and colliders."],
    rolling: ["|M| ≤ μ_r r F_n", "Resistance to rolling: grains that are no balls."],
    move: ["m a = ΣF + m g", "Newton's law for each grain."],
    "surface flow": ["∂R/∂t = −v ∇R + Γ", "Grains that roll over a resting heap, as a layer."],
    columns: ["", "The heap at rest as a height field."],
    sleep: ["", "Grains at rest are left out."],
  },
  points: { "move_block and collide": ["m a = m g", "Particles fly and bounce."] },
};

export function explain(solver, stage) {
  const found = EQUATIONS[solver]?.[stage] ?? COMMON[stage] ?? ["", ""];
  return { name: stage, equation: found[0], text: found[1] };
}

// Walks through the stages of a step; behind the last one comes the next step.
export class StageWalk {
  constructor() {
    this.stop();
  }

  // Stages of a step in their order, [{ name, slice }]: the first one is shown.
  setStages(stages) {
    this.stages = stages;
    this.at = 0;
    this.isWaiting = false;
  }

  // "stage": another one is shown; "step": a step is due; "": it is under way.
  next() {
    if (this.isWaiting) return "";
    if (this.at + 1 < this.stages.length) {
      this.at += 1;
      return "stage";
    }
    this.isWaiting = true;
    return "step";
  }

  // Not at the last one, with which the particles move.
  get isWithin() {
    return this.at + 1 < this.stages.length;
  }

  get name() {
    return this.stages[this.at]?.name ?? "";
  }

  stop() {
    this.stages = [];
    this.at = 0;
    this.isWaiting = false;
  }
}
