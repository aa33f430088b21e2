// The machine in three dimensions: a cube a node.
import {
  BoxGeometry, Color, InstancedMesh, LineBasicMaterial,
  LineDashedMaterial, LineSegments, EdgesGeometry, Matrix4, MeshLambertMaterial, PerspectiveCamera, Scene,
  Vector3, WebGLRenderer, AmbientLight, DirectionalLight, Group, Raycaster, Vector2, ArrowHelper,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { colour, point } from "./model.js";

export class View3d {
  constructor(canvas, onPick) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.scene = new Scene();
    this.scene.add(new AmbientLight(0xffffff, 1.6));
    const sun = new DirectionalLight(0xffffff, 2);
    sun.position.set(2, 3, 4);
    this.scene.add(sun);
    this.camera = new PerspectiveCamera(40, 1, 0.1, 1000);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.draw());
    this.marks = new Group();
    this.scene.add(this.marks);
    canvas.addEventListener("click", (event) => onPick(this.pick(event)));
    this.canvas = canvas;
    this.frames = 0;
  }

  /** Makes the cubes of a grid. */
  begin(g) {
    if (this.grid?.text === g.text) return;
    this.grid = g;
    if (this.cubes) this.scene.remove(this.cubes, this.frame);
    this.cubes = new InstancedMesh(new BoxGeometry(1, 1, 1), new MeshLambertMaterial(), g.nodes);
    this.scene.add(this.cubes);
    this.frame = this.outline([0, 0, 0], g.sides, 0x888888, g.wraps.some(Boolean));
    this.scene.add(this.frame);
    const most = Math.max(...g.sides);
    this.controls.target.set(g.sides[0] / 2, g.sides[1] / 2, g.sides[2] / 2);
    if (g.sides[2] === 1) this.camera.position.set(g.sides[0] / 2, -most * 0.75, most * 1.25);
    else this.camera.position.set(-most * 1.1, -most * 1.3, most * 1.5);
    this.camera.up.set(0, 0, 1);
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

  show(machine, { by, layer, selected, dark }) {
    this.begin(machine.grid);
    const matrix = new Matrix4(), shade = new Color();
    for (let node = 0; node < machine.grid.nodes; node++) {
      const [x, y, z] = point(machine.grid, node);
      const c = colour(machine, node, by, dark);
      const key = machine.holder[node];
      let size = c === null ? 0.16 : key === null ? 0.45 : 0.86;
      if (layer !== null && z !== layer) size = 0;
      if (selected !== null && key !== null && key !== selected) size *= 0.35;
      matrix.makeScale(size, size, size).setPosition(x + 0.5, y + 0.5, z + 0.5);
      this.cubes.setMatrixAt(node, matrix);
      if (c === null) shade.set(dark ? 0x556070 : 0xb4bcc8);
      else shade.setHSL(c[0] / 360, c[1], c[2]);
      this.cubes.setColorAt(node, shade);
    }
    this.cubes.instanceMatrix.needsUpdate = true;
    this.cubes.instanceColor.needsUpdate = true;
    this.cubes.computeBoundingSphere();
    this.draw();
  }

  /** Boxes and moves drawn over the machine. */
  mark(boxes, moves) {
    this.marks.clear();
    for (const { part, shade } of boxes) {
      const three = (list, other) => [0, 1, 2].map((axis) => list[axis] ?? other);
      this.marks.add(this.outline(three(part.base, 0), three(part.sides, 1), shade, false));
    }
    for (const { from, to } of moves) {
      const centre = (part) => new Vector3(...[0, 1, 2].map((axis) => (part.base[axis] ?? 0) + (part.sides[axis] ?? 1) / 2));
      const start = centre(from), way = centre(to).sub(start);
      this.marks.add(new ArrowHelper(way.clone().normalize(), start, way.length(), 0x0a84ff, 0.6, 0.4));
    }
    this.draw();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.frames++;
      this.renderer.render(this.scene, this.camera);
    });
  }

  turn(dx, dy) {
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
    return this.cubes ? (ray.intersectObject(this.cubes)[0]?.instanceId ?? null) : null;
  }
}
