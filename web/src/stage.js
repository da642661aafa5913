// The picture: camera, light, ground, colliders, grains, the surface of water; and where a pointer points.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Grains } from "./grains.js";
import { Ring } from "./ring.js";
import { SliceView } from "./slice.js";
import { Thinning } from "./thin.js";
import { meshFragment, meshVertex, SKY, SUN } from "./shade.js";

const SHADOW = 1024;

function colour(r, g, b) {
  return new THREE.Vector3(r, g, b);
}

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.quality = 1; // 1 full, 0 fast
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: false, powerPreference: "high-performance",
                                              preserveDrawingBuffer: false });
    this.isSoftware = Stage.isSoftware(this.renderer.getContext());
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace; // the shaders write what the screen shows
    this.renderer.setClearColor(new THREE.Color(...SKY));
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(1.2, -1.6, 0.9);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.need());
    this.isTurned = false; // by a person, now
    this.between = 0; // ms between two pictures of the simulation
    this.controls.addEventListener("start", () => { this.isTurned = true; });
    this.controls.addEventListener("end", () => { this.isTurned = false; });
    this.makeLight();
    this.grains = new Grains(this.shared);
    this.scene.add(this.grains.points);
    this.beside = null; // grains of another session, shown at the left
    this.ring = new Ring(this.scene);
    this.slice = new SliceView(this.scene);
    this.colliders = new Map();
    this.makeGround();
    this.makeDomain();
    this.surface = null;
    this.size = 1;
    this.floor = 0;
    this.center = [0, 0, 0];
    this.isNeeded = true;
    this.shadowIsOld = true;
    this.fence = null; // of the picture that is being drawn
    this.drawAt = 0; // when it was begun
    this.thinning = new Thinning();
  }

  // Without a graphics card the processor draws, which the simulation may need as well.
  static isSoftware(gl) {
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const name = names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
    return /swiftshader|llvmpipe|software/i.test(name);
  }

  need() {
    this.isNeeded = true;
    this.changedAt = performance.now();
  }

  makeLight() {
    this.sun = new THREE.OrthographicCamera(-1, 1, 1, -1, 0.1, 10);
    this.sun.up.set(0, 0, 1);
    this.shadowTarget = new THREE.WebGLRenderTarget(SHADOW, SHADOW, {
      depthTexture: new THREE.DepthTexture(SHADOW, SHADOW, THREE.UnsignedIntType),
      minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter });
    this.shared = {
      sun: { value: new THREE.Vector3(...SUN).normalize() },
      shadowMatrix: { value: new THREE.Matrix4() },
      shadowMap: { value: this.shadowTarget.depthTexture },
      shadowStrength: { value: 0.85 },
      shadowBias: { value: 0.01 },
      cut: { value: new THREE.Vector4(0, 0, 0, 1e10) },
      eye: { value: this.camera.position },
    };
  }

  meshMaterial(own, settings = {}) {
    return new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3,
      defines: this.quality < 1 ? { FAST: 1 } : {},
      vertexShader: meshVertex,
      fragmentShader: meshFragment,
      side: THREE.DoubleSide,
      uniforms: { ...this.shared, low: { value: new THREE.Vector3() }, size: { value: new THREE.Vector3(1, 1, 1) },
                  isPacked: { value: 0 }, isWater: { value: 0 }, opacity: { value: 1 }, checker: { value: 0 }, haze: { value: 1 },
                  colour: { value: own } },
      ...settings,
    });
  }

  makeGround() {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(
      new Float32Array(9), 3)); // one triangle: two would show where they meet
    this.ground = new THREE.Mesh(geometry, this.meshMaterial(colour(0.55, 0.55, 0.53)));
    this.ground.frustumCulled = false;
    this.ground.renderOrder = 1; // behind most: what covers it spares its pixels
    this.scene.add(this.ground);
  }

  makeDomain() {
    const box = new THREE.LineSegments(new THREE.EdgesGeometry(new THREE.BoxGeometry(1, 1, 1)),
                                       new THREE.LineBasicMaterial({ color: 0x6b7785 }));
    this.domain = box;
    box.visible = false;
    this.scene.add(box);
  }

  setScene(facts) {
    const d = facts.domain;
    const low = d ? d.min : [-1, -1, 0], high = d ? d.max : [1, 1, 1];
    const center = low.map((v, i) => 0.5 * (v + high[i]));
    this.center = center;
    this.grains.center = center;
    this.size = Math.max(...high.map((v, i) => v - low[i]));
    this.extent = high.map((v, i) => v - low[i]);
    this.floor = low[2] - center[2];
    this.domain.visible = !!d;
    if (d) this.domain.scale.set(...this.extent);
    const wide = 20 * this.size, p = this.ground.geometry.attributes.position;
    [[-1.75, -1], [1.75, -1], [0, 2]].forEach(([x, y], i) => p.setXYZ(i, wide * x, wide * y, this.floor - 2e-3 * this.size));
    p.needsUpdate = true;
    this.ground.material.uniforms.checker.value = this.size / 8;
    this.ground.material.uniforms.haze.value = 10 * this.size;
    this.thinning.reset();
    this.grains.radius = 0.55 * facts.spacing;
    this.shared.shadowBias.value = 1.5 * facts.spacing;
    const sand = [colour(0.56, 0.39, 0.19), colour(0.42, 0.26, 0.13)], water = [colour(0.05, 0.19, 0.42), colour(0.05, 0.3, 0.32)];
    let sands = 0, waters = 0;
    facts.materials.slice(0, 4).forEach((m, i) => {
      this.grains.uniforms.colours.value[i].copy(m.kind === "water" ? water[waters++ % 2] : sand[sands++ % 2]);
    });
    this.waterBits = facts.materials.reduce((bits, m, i) => bits | (m.kind === "water" && i < 4 ? 1 << i : 0), 0);
    for (const [, mesh] of this.colliders) this.scene.remove(mesh);
    this.colliders.clear();
    this.setSurface(null);
    this.slice.clear();
    this.slice.fastest = 0;
    this.placeSun();
    this.need();
  }

  // Grains of a frame that was kept (kept.js) at the left of the picture, the present ones at the right; null: these alone.
  setBeside(frame) {
    const hadBeside = this.beside !== null;
    if (frame) {
      if (!this.beside) {
        this.beside = new Grains(this.shared);
        for (const material of [this.beside.material, this.beside.depthMaterial]) material.defines = this.quality < 1 ? { FAST: 1 } : {};
      }
      this.beside.center = this.center;
      this.beside.load(frame);
      this.beside.uniforms.colours.value = this.grains.uniforms.colours.value;
      if (!this.beside.points.parent) this.scene.add(this.beside.points);
    } else if (this.beside) {
      this.scene.remove(this.beside.points);
      this.beside = null;
    }
    if (hadBeside !== (this.beside !== null)) {
      this.resize();
      this.fit();
    }
    this.showSurface();
  }

  // The surface hides the colours of its particles, and a kept session has none.
  showSurface() {
    const isShown = this.surface !== null && !this.beside && this.grains.uniforms.mapped.value === 0;
    if (this.surface) this.surface.visible = isShown;
    this.grains.uniforms.hidden.value = isShown ? this.waterBits : 0;
    this.need();
  }

  placeSun() {
    const r = 0.5 * Math.hypot(...this.extent) * 1.05, s = this.sun;
    s.left = s.bottom = -r;
    s.right = s.top = r;
    s.near = 0;
    s.far = 2 * r;
    s.position.copy(this.shared.sun.value).multiplyScalar(r);
    s.lookAt(0, 0, 0);
    s.updateMatrixWorld();
    s.updateProjectionMatrix();
    const half = new THREE.Matrix4().set(0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 1);
    this.shared.shadowMatrix.value.copy(half).multiply(s.projectionMatrix).multiply(s.matrixWorldInverse);
    this.shadowIsOld = true;
  }

  fit() {
    const e = this.extent ?? [1, 1, 1];
    const r = 0.5 * Math.hypot(...e);
    const half = Math.tan((0.5 * this.camera.fov * Math.PI) / 180), aspect = this.camera.aspect;
    // A tall picture, as each of two side by side: the whole ball around the scene is in it.
    const distance = aspect < 1 ? r / Math.sin(Math.atan(half * aspect)) : (0.95 * r) / half;
    const direction = new THREE.Vector3(0.35, -1, 0.42).normalize();
    this.controls.target.set(0, 0, -0.12 * e[2]);
    this.camera.position.copy(direction.multiplyScalar(distance)).add(this.controls.target);
    this.camera.near = 0.01 * r;
    this.camera.far = 60 * r;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.need();
  }

  applyPicture(picture) {
    this.grains.apply(picture);
    this.shadowIsOld = true;
    this.need();
  }

  // A mesh message of the server: kind 2 a surface, 3 a collider.
  applyMesh(buffer, names) {
    const head = new Uint32Array(buffer, 0, 4), reals = new Float64Array(buffer, 16, 6);
    const [kind, index, vertices, triangles] = head;
    const geometry = new THREE.BufferGeometry();
    let at = 64;
    if (kind === 2) {
      geometry.setAttribute("coded", new THREE.BufferAttribute(new Uint16Array(buffer, at, 4 * vertices), 4, true));
      at += 8 * vertices;
    } else {
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(buffer, at, 3 * vertices), 3));
      at += 12 * vertices;
    }
    geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(buffer, at, 3 * triangles), 1));
    const low = [0, 1, 2].map((c) => reals[c] - this.center[c]);
    if (kind === 2) this.setSurface(geometry, low, reals);
    else this.setCollider(index, geometry, low, names?.[index]?.name ?? "");
    this.shadowIsOld = true;
    this.need();
  }

  setCollider(index, geometry, low, name) {
    let mesh = this.colliders.get(index);
    if (!mesh) {
      mesh = new THREE.Mesh(geometry, this.meshMaterial(name === "view_ball" ? colour(0.75, 0.2, 0.1) : colour(0.42, 0.45, 0.48)));
      mesh.frustumCulled = false;
      this.colliders.set(index, mesh);
      this.scene.add(mesh);
    } else {
      mesh.geometry.dispose();
      mesh.geometry = geometry;
    }
    mesh.visible = Math.hypot(...low) < 50 * this.size;
    mesh.material.uniforms.low.value.set(...low);
  }

  setSurface(geometry, low, reals) {
    if (!geometry) {
      if (this.surface) {
        this.scene.remove(this.surface);
        this.surface.geometry.dispose();
        this.surface = null;
      }
      this.grains.uniforms.hidden.value = 0;
      this.need();
      return;
    }
    if (!this.surface) {
      const material = this.meshMaterial(colour(0.05, 0.22, 0.38), { transparent: true });
      material.uniforms.isPacked.value = material.uniforms.isWater.value = 1;
      material.uniforms.opacity.value = 0.78;
      this.surface = new THREE.Mesh(geometry, material);
      this.surface.frustumCulled = false;
      this.scene.add(this.surface);
    } else {
      this.surface.geometry.dispose();
      this.surface.geometry = geometry;
    }
    this.surface.material.uniforms.low.value.set(...low);
    this.surface.material.uniforms.size.value.set(reals[3], reals[4], reals[5]);
    this.showSurface();
  }

  resize() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    const ratio = Math.min(window.devicePixelRatio || 1, 2) * (this.quality < 1 ? 0.6 : 1);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = (this.beside ? 0.5 : 1) * width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.need();
  }

  setQuality(quality) {
    if (quality === this.quality) return;
    this.quality = quality;
    this.scene.traverse((object) => {
      if (object.material?.isRawShaderMaterial) {
        object.material.defines = quality < 1 ? { FAST: 1 } : {};
        object.material.needsUpdate = true;
      }
    });
    this.resize();
  }

  // The last picture is not drawn yet. More of them would wait in a queue, and a person for all of them.
  isDrawing() {
    const gl = this.renderer.getContext();
    if (this.fence && gl.getSyncParameter(this.fence, gl.SYNC_STATUS) === gl.SIGNALED) {
      gl.deleteSync(this.fence);
      this.fence = null;
      this.thinning.measured(performance.now() - this.drawAt, this.grains.stride, this.isTurned ? 0 : this.between);
    }
    return this.fence !== null;
  }

  // Grains with the camera given; only their depth.
  drawDepth(camera, height, target) {
    const { points, uniforms } = this.grains, hidden = [];
    for (const object of this.scene.children) {
      if (object !== points && object.visible) {
        object.visible = false;
        hidden.push(object);
      }
    }
    points.material = this.grains.depthMaterial;
    uniforms.height.value = height;
    this.renderer.setRenderTarget(target);
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.clear();
    this.renderer.render(this.scene, camera);
    this.renderer.setRenderTarget(null);
    this.renderer.setClearColor(new THREE.Color(...SKY), 1);
    points.material = this.grains.material;
    for (const object of hidden) object.visible = true;
  }

  // stride: each such particle.
  draw(stride = 1) {
    const u = this.grains.uniforms;
    this.drawAt = performance.now();
    this.grains.setStride(stride);
    const hasShadow = this.quality >= 1 && this.shared.shadowStrength.value > 0;
    if (hasShadow && this.shadowIsOld) {
      const seen = u.hidden.value;
      u.hidden.value = 0; // water under its surface has a shadow too
      this.drawDepth(this.sun, SHADOW, this.shadowTarget);
      u.hidden.value = seen;
      this.shadowIsOld = false;
    }
    const strength = this.shared.shadowStrength.value;
    if (!hasShadow) this.shared.shadowStrength.value = 0;
    this.camera.updateMatrixWorld();
    this.aimUniforms(u);
    if (this.beside) this.drawBoth();
    else this.renderer.render(this.scene, this.camera);
    this.shared.shadowStrength.value = strength;
    this.isNeeded = false;
    const gl = this.renderer.getContext();
    gl.deleteSync(this.fence);
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }

  aimUniforms(u) {
    u.height.value = this.renderer.domElement.height;
    u.viewToWorld.value.copy(this.camera.matrixWorld);
    u.sunInView.value.copy(this.shared.sun.value).transformDirection(this.camera.matrixWorldInverse);
    u.upInView.value.set(0, 0, 1).transformDirection(this.camera.matrixWorldInverse);
  }

  // Two pictures with one camera. Shadows are those of the present session, so that none are drawn.
  drawBoth() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, half = Math.floor(0.5 * width);
    const strength = this.shared.shadowStrength.value;
    this.shared.shadowStrength.value = 0;
    const own = this.grains.uniforms, other = this.beside.uniforms;
    for (const key of ["mapped", "wetness"]) other[key].value = own[key].value;
    this.aimUniforms(other);
    this.beside.setStride(this.grains.stride);
    this.renderer.setScissorTest(true);
    for (const [x, isOwn] of [[0, false], [half, true]]) {
      this.renderer.setViewport(x, 0, half, height);
      this.renderer.setScissor(x, 0, isOwn ? width - half : half - 1, height);
      this.grains.points.visible = isOwn;
      this.beside.points.visible = !isOwn;
      this.slice.group.visible = isOwn;
      this.renderer.render(this.scene, this.camera);
    }
    this.renderer.setScissorTest(false);
    this.renderer.setViewport(0, 0, width, height);
    this.grains.points.visible = true;
    this.slice.group.visible = true;
    this.shared.shadowStrength.value = strength;
  }

  ray(x, y) {
    const rect = this.canvas.getBoundingClientRect(), wide = this.beside ? 0.5 * rect.width : rect.width;
    const left = (x - rect.left) % wide;
    const at = new THREE.Vector2((left / wide) * 2 - 1, 1 - ((y - rect.top) / rect.height) * 2);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster.ray;
  }

  // The grain under the pointer, or the floor; relative to the center, or null.
  pick(x, y) {
    const ray = this.ray(x, y), { distance } = this.grains.hit(ray);
    return distance < Infinity ? ray.at(distance, new THREE.Vector3()) : this.onPlane(x, y, this.floor);
  }

  // Whether the pointer is over the kept session, at the left.
  isBeside(x) {
    const rect = this.canvas.getBoundingClientRect();
    return this.beside !== null && x - rect.left < 0.5 * rect.width;
  }

  // The grain under the pointer: its place, material and byte; null: none.
  probe(x, y) {
    const ray = this.ray(x, y), grains = this.isBeside(x) ? this.beside : this.grains, { distance, slot } = grains.hit(ray);
    return slot < 0 ? null : { ...grains.at(slot), place: this.toWorld(ray.at(distance, new THREE.Vector3())) };
  }

  // Where the pointer meets the height z (relative to the center); null: nowhere in front.
  onPlane(x, y, z) {
    return this.ray(x, y).intersectPlane(new THREE.Plane(new THREE.Vector3(0, 0, 1), -z), new THREE.Vector3());
  }

  toWorld(p) {
    return [p.x + this.center[0], p.y + this.center[1], p.z + this.center[2]];
  }

  setCut(axis, fraction) {
    const c = this.shared.cut.value;
    if (axis === null) c.set(0, 0, 0, 1e10);
    else {
      const n = [0, 0, 0];
      n[axis] = axis === 1 ? -1 : 1; // the side of the first view goes
      const at = (fraction - 0.5) * this.extent[axis];
      c.set(n[0], n[1], n[2], n[axis] * at);
    }
    this.shadowIsOld = true;
    this.need();
  }
}
