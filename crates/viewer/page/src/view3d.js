// The machine in three dimensions: a cube a node that is held, a point a node that is free. Cubes touch,
// so that a face between two of them is never seen and is not drawn, nor is one that is turned away; lines
// on the faces tell nodes apart, wide ones tell jobs apart.
import {
  ArrowHelper, BoxGeometry, BufferAttribute, BufferGeometry, CylinderGeometry, EdgesGeometry, Group, LineBasicMaterial,
  LineDashedMaterial, LineSegments, Mesh, MeshBasicMaterial, PerspectiveCamera, Points, Raycaster, Scene, ShaderMaterial,
  Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { pieces } from "./model.js";
import { shapes } from "./shapes.js";
import { Sharpness } from "./sharpness.js";

/** Widths of the lines between nodes of a job and between jobs, in sides of a node. */
const THIN = 0.02, WIDE = 0.06;
const CUBES = {
  // Four corners to a face, in the order of `shapes`.
  vertexShader: `
    attribute vec4 shade; attribute vec4 wide;
    varying vec3 vShade; varying vec2 vCorner; varying vec4 vWide;
    void main() {
      int corner = gl_VertexID & 3;
      vCorner = vec2(corner == 1 || corner == 2 ? 1.0 : 0.0, corner > 1 ? 1.0 : 0.0);
      vShade = shade.rgb;
      vWide = 1.0 / mix(vec4(${THIN}), vec4(${WIDE}), wide);
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    }`,
  // How far the nearest side is, in widths of its line.
  fragmentShader: `
    varying vec3 vShade; varying vec2 vCorner; varying vec4 vWide;
    void main() {
      vec4 side = vec4(vCorner, 1.0 - vCorner) * vWide;
      float near = min(min(side.x, side.y), min(side.z, side.w));
      gl_FragColor = vec4(vShade * (near < 1.0 ? 0.55 : 1.0), 1.0);
    }`,
};
const DOTS = {
  vertexShader: `
    attribute vec3 shade; attribute float size; uniform float height; varying vec3 vShade;
    void main() {
      vShade = shade;
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      gl_PointSize = max(1.5, size * height * projectionMatrix[1][1] / gl_Position.w);
    }`,
  fragmentShader: "varying vec3 vShade; void main() { gl_FragColor = vec4(vShade, 1.0); }",
};

/** Whether frames are drawn by the processor: then smooth edges and what lies under the canvas cost too much. */
function drawnBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

/** New attributes in place of the old ones, which the graphics memory is rid of. */
function fill(object, attributes) {
  object.geometry.dispose();
  object.geometry = new BufferGeometry();
  for (const [name, [numbers, size, share]] of Object.entries(attributes))
    object.geometry.setAttribute(name, new BufferAttribute(numbers, size, share));
}

export class View3d {
  constructor(canvas, onPick) {
    this.software = drawnBySoftware();
    if (this.software) document.body.dataset.drawn = "by-software";
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, alpha: !this.software });
    this.sharpness = new Sharpness((share) => this.sharpen(share));
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(40, 1, 0.1, 4000);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("start", () => { this.turned = true; });
    this.controls.addEventListener("change", () => this.draw());
    this.marks = new Group();
    this.cubes = new Mesh(new BufferGeometry(), [new ShaderMaterial(CUBES)]);
    this.dots = new Points(new BufferGeometry(), new ShaderMaterial({ ...DOTS, uniforms: { height: { value: 1 } } }));
    this.cubes.frustumCulled = this.dots.frustumCulled = false;
    this.scene.add(this.marks, this.cubes, this.dots);
    canvas.addEventListener("click", (event) => onPick(this.pick(event)));
    this.canvas = canvas;
  }

  /** Takes over a grid. */
  begin(g) {
    if (this.grid?.text === g.text) return;
    this.grid = g;
    this.turned = false;
    if (this.frame) this.scene.remove(this.frame);
    this.frame = this.outline([0, 0, 0], g.sides, 0x888888, g.wraps.some(Boolean));
    this.scene.add(this.frame);
    this.fit();
  }

  /** The whole machine in view, as large as it can be, from where one looks at it. */
  fit() {
    if (!this.grid || this.turned) return;
    const { sides } = this.grid;
    const centre = new Vector3(...sides).multiplyScalar(0.5);
    const back = new Vector3(...(sides[2] === 1 ? [0, -0.75, 1.25] : [-0.55, -0.7, 0.6])).normalize();
    const right = new Vector3(0, 0, 1).cross(back).normalize(), up = back.clone().cross(right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360), wide = tall * this.camera.aspect;
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const at = new Vector3(...[0, 1, 2].map((axis) => (corner >> axis & 1) * sides[axis])).sub(centre);
      const away = Math.max(Math.abs(at.dot(right)) / wide, Math.abs(at.dot(up)) / tall);
      distance = Math.max(distance, 1.06 * away + at.dot(back));
    }
    this.camera.up.set(0, 0, 1);
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(back, distance);
    this.controls.update();
  }

  /** The edges of a box; dashed where it may go on at the other end. */
  outline(base, sides, shade, dashed) {
    const edges = new EdgesGeometry(new BoxGeometry(...sides));
    const material = dashed
      ? new LineDashedMaterial({ color: shade, dashSize: 0.4, gapSize: 0.3 })
      : new LineBasicMaterial({ color: shade });
    const lines = new LineSegments(edges, material);
    lines.computeLineDistances();
    lines.position.set(base[0] + sides[0] / 2, base[1] + sides[1] / 2, base[2] + sides[2] / 2);
    return lines;
  }

  show(machine, options) {
    this.begin(machine.grid);
    const { faces, dots } = shapes(machine, options);
    fill(this.cubes, faces.attributes);
    this.cubes.geometry.setIndex(new BufferAttribute(faces.index, 1));
    fill(this.dots, dots);
    this.faces = faces;
    if (this.software) this.renderer.setClearColor(getComputedStyle(document.body).getPropertyValue("--card"));
    this.draw();
  }

  /** Boxes and moves drawn over the machine. */
  mark(boxes, moves) {
    this.marks.traverse((old) => { old.geometry?.dispose(); old.material?.dispose(); });
    this.marks.clear();
    for (const { part, shade } of boxes)
      for (const { base, sides } of pieces(this.grid, part)) {
        const lines = this.outline(base, sides, shade, false);
        const faces = new Mesh(
          new BoxGeometry(...sides),
          new MeshBasicMaterial({ color: shade, transparent: true, opacity: 0.07, side: 2, depthWrite: false }),
        );
        faces.position.copy(lines.position);
        // Seen through the cubes, and above them.
        for (const [piece, order] of [[faces, 2], [lines, 3]]) {
          piece.material.depthTest = false;
          // What is transparent is drawn last: all of it, in this order.
          piece.material.transparent = true;
          piece.renderOrder = order;
          this.marks.add(piece);
        }
      }
    for (const { from, to } of moves) {
      const centre = (part) => new Vector3(...[0, 1, 2].map((axis) => (part.base[axis] ?? 0) + (part.sides[axis] ?? 1) / 2));
      const start = centre(from), way = centre(to).sub(start);
      const length = way.length(), head = Math.min(0.8, length / 2);
      const arrow = new ArrowHelper(way.clone().normalize(), start, length, 0x0a84ff, head, 0.5);
      // A line is one pixel wide, whatever its distance: a rod is not.
      const rod = new CylinderGeometry(0.1, 0.1, length - head, 8).translate(0, (length - head) / 2, 0);
      arrow.add(new Mesh(rod, arrow.cone.material));
      for (const piece of arrow.children) {
        piece.material.depthTest = false;
        piece.material.transparent = true;
        piece.renderOrder = 4;
      }
      this.marks.add(arrow);
    }
    this.draw();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.dots.material.uniforms.height.value = height * this.renderer.getPixelRatio();
    this.sharpness.begin();
    this.fit();
    this.draw();
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame((now) => {
      this.sharpness.frame(now);
      this.pending = false;
      const began = performance.now();
      this.aim();
      this.renderer.render(this.scene, this.camera);
      this.spent = performance.now() - began;
    });
  }

  /** Draws with a share of the screen's points along each side. */
  sharpen(share) {
    const ratio = share * Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.dots.material.uniforms.height.value = this.canvas.parentElement.clientHeight * ratio;
    this.draw();
  }

  /** Of the cubes' faces, draws those whose direction can be seen from where the camera is. */
  aim() {
    const { geometry } = this.cubes;
    geometry.clearGroups();
    for (const { axis, way, plane, start, count } of this.faces?.groups ?? [])
      if (count && way * (this.camera.position.getComponent(axis) - plane) > 0) geometry.addGroup(start, count, 0);
  }

  turn(dx, dy) {
    this.turned = true;
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.applyAxisAngle(new Vector3(0, 0, 1), dx);
    const side = new Vector3(0, 0, 1).cross(offset).normalize();
    const tilted = offset.clone().applyAxisAngle(side, dy);
    if (Math.abs(tilted.clone().normalize().z) < 0.99) offset.copy(tilted);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.draw();
  }

  zoom(factor) {
    this.turned = true;
    const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.draw();
  }

  pick(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1,
      1 - ((event.clientY - box.top) / box.height) * 2,
    );
    const ray = new Raycaster();
    ray.setFromCamera(at, this.camera);
    const hit = this.grid ? ray.intersectObject(this.cubes)[0] : null;
    return hit ? this.faces.owners[Math.floor(hit.faceIndex / 2)] : null;
  }
}
