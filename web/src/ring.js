// What a tool will touch: a ring where the pointer meets the material, and for pouring a second one where the stream begins.

import * as THREE from "three";

const AROUND = 48;

function circle() {
  const points = new Float32Array(3 * AROUND);
  for (let i = 0; i < AROUND; ++i) {
    points[3 * i] = Math.cos((2 * Math.PI * i) / AROUND);
    points[3 * i + 1] = Math.sin((2 * Math.PI * i) / AROUND);
  }
  return points;
}

export class Ring {
  constructor(scene) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(circle(), 3));
    const line = new THREE.BufferGeometry();
    line.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6), 3));
    const dark = new THREE.LineBasicMaterial({ color: 0x7a1f00, depthTest: false });
    this.target = new THREE.LineLoop(geometry, dark);
    this.source = new THREE.LineLoop(geometry, dark);
    this.fall = new THREE.Line(line, dark);
    for (const part of [this.target, this.source, this.fall]) {
      part.frustumCulled = false;
      part.visible = false;
      part.renderOrder = 9;
      scene.add(part);
    }
  }

  // at: where the pointer meets the material; from: where a stream begins, or null.
  show(at, radius, from, fromRadius) {
    this.target.visible = true;
    this.target.position.copy(at);
    this.target.scale.setScalar(radius);
    this.source.visible = this.fall.visible = !!from;
    if (from) {
      this.source.position.copy(from);
      this.source.scale.setScalar(fromRadius);
      const p = this.fall.geometry.attributes.position;
      p.setXYZ(0, at.x, at.y, at.z);
      p.setXYZ(1, from.x, from.y, from.z);
      p.needsUpdate = true;
    }
  }

  hide() {
    this.target.visible = this.source.visible = this.fall.visible = false;
  }
}
