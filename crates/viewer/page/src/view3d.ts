// Draws the machine in three dimensions, with a cube for each held node and a point for each free
// node. Cubes touch, so faces between them are not drawn, nor are faces that point away. Thin lines
// on the faces separate nodes, and wide lines separate jobs.
import {
  type Material, ArrowHelper, BoxGeometry, BufferAttribute, BufferGeometry, Color,
  CylinderGeometry, EdgesGeometry, Group, LineBasicMaterial, LineDashedMaterial, LineSegments,
  LinearSRGBColorSpace, Mesh, MeshBasicMaterial, PerspectiveCamera, Points, Raycaster, Scene,
  ShaderMaterial, Spherical, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { DOT, HIDES, SIDE, STRIPE } from "./hatch.ts";
import { Labels } from "./labels.ts";
import { type Mark, type Move } from "./marks.ts";
import { type Grid, type Machine, type Part, pieces } from "./model.ts";
import { type Look, MARK, type Numbers, shapes } from "./shapes.ts";
import { Sharpness } from "./sharpness.ts";
import { paper } from "./theme.ts";

/** The margin for the axis numbers, in pixels. */
const LABELS = 36;
/** The widths of the lines between a job's nodes and between jobs, relative to a node's size. */
const THIN = 0.02, WIDE = 0.06;
const CUBES = {
  // Each face has four corners, in the same order as in `shapes`.
  vertexShader: `
    attribute vec4 shade; attribute vec4 wide;
    varying vec3 vShade; varying float vPattern; varying vec2 vCorner; varying vec4 vWide;
    void main() {
      int corner = gl_VertexID & 3;
      vCorner = vec2(corner == 1 || corner == 2 ? 1.0 : 0.0, corner > 1 ? 1.0 : 0.0);
      vShade = shade.rgb;
      vPattern = 255.0 * shade.a;
      vWide = 1.0 / mix(vec4(${THIN}), vec4(${WIDE}), wide);
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    }`,
  // The distance to the nearest side, in line widths, and a pattern that is fixed relative to the
  // screen. One stroke crosses a held node that is drained; two strokes cross one that has failed.
  fragmentShader: `
    uniform float grain; uniform vec3 paper;
    varying vec3 vShade; varying float vPattern; varying vec2 vCorner; varying vec4 vWide;
    void main() {
      vec4 side = vec4(vCorner, 1.0 - vCorner) * vWide;
      float near = min(min(side.x, side.y), min(side.z, side.w));
      vec2 at = fract(gl_FragCoord.xy / (${SIDE}.0 * grain));
      float mark = floor((vPattern + 0.5) / ${MARK}.0), pattern = vPattern - ${MARK}.0 * mark;
      bool over = pattern > 1.5 ? distance(at, vec2(0.5)) < ${DOT}
        : pattern > 0.5 && fract(at.x + at.y) < ${STRIPE};
      vec3 shade = over ? mix(vShade, paper, ${HIDES}) : vShade;
      vec2 middle = vCorner - 0.5;
      float stroke = abs(middle.x - middle.y);
      if (mark > 1.5) stroke = min(stroke, abs(middle.x + middle.y));
      if (mark > 0.5 && stroke < 0.1 && max(abs(middle.x), abs(middle.y)) < 0.3)
        shade = vec3(dot(vShade, vec3(0.3, 0.59, 0.11)) > 0.5 ? 0.0 : 1.0);
      gl_FragColor = vec4(shade * (near < 1.0 ? 0.55 : 1.0), 1.0);
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

/** Returns true if rendering is in software and thus too slow for antialiasing and transparency. */
function drawnBySoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

/** Replaces the attributes and removes the old ones from graphics memory. */
function fill(object: Mesh | Points, attributes: Record<string, Numbers>): void {
  object.geometry.dispose();
  object.geometry = new BufferGeometry();
  for (const [name, [numbers, size, share]] of Object.entries(attributes))
    object.geometry.setAttribute(name, new BufferAttribute(numbers, size, share));
}

type Shapes = ReturnType<typeof shapes>;
/** A viewing position: angles in degrees, and the distance from the machine. */
export type Eye = number[];

export class View3d {
  readonly software = drawnBySoftware();
  readonly renderer: WebGLRenderer;
  private readonly sharpness = new Sharpness((share) => this.sharpen(share));
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(38, 1, 0.1, 4000);
  private readonly controls: OrbitControls;
  private readonly marks = new Group();
  private readonly height = { value: 1 };
  /** The ratio of rendered pixels to screen pixels. */
  private readonly grain = { value: 1 };
  private readonly under = { value: new Color() };
  private readonly cubes = new Mesh(new BufferGeometry(), [
    new ShaderMaterial({ ...CUBES, uniforms: { grain: this.grain, paper: this.under } }),
  ]);
  private readonly dots = new Points(
    new BufferGeometry(), new ShaderMaterial({ ...DOTS, uniforms: { height: this.height } }));
  private readonly labels: Labels;
  private grid: Grid | null = null;
  private frame: LineSegments | null = null;
  private shapes: Shapes | null = null;
  private machine: Machine | null = null;
  private said: string | null = null;
  private marked: [Mark[], Move[]] = [[], []];
  private turned = false;
  private wanted: Eye | null = null;
  private pending = false;
  /** The time taken by the last frame, in ms. */
  spent = 0;

  /** Creates the view. `moved` is called when the user has rotated the machine. */
  constructor(readonly canvas: HTMLCanvasElement, names: HTMLElement, moved: () => void) {
    if (this.software) document.body.dataset.drawn = "by-software";
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, alpha: !this.software });
    this.labels = new Labels(names);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("start", () => { this.turned = true; });
    this.controls.addEventListener("end", moved);
    this.controls.addEventListener("change", () => this.draw());
    this.cubes.frustumCulled = this.dots.frustumCulled = false;
    this.scene.add(this.marks, this.cubes, this.dots);
  }

  /** Switches to another grid. */
  private begin(g: Grid): void {
    if (this.grid?.text === g.text) return;
    this.grid = g;
    if (this.frame) this.scene.remove(this.frame);
    this.frame = this.outline({ base: [0, 0, 0], sides: g.sides }, 0x8793a0, g.wraps.some(Boolean));
    this.scene.add(this.frame);
    this.lookFrom(this.wanted);
  }

  /** Shows the whole machine, as large as possible, from the current direction. */
  private fit(): void {
    if (!this.grid || this.turned) return;
    const { sides } = this.grid, { camera, controls } = this;
    const from = sides[2] === 1 ? [0, -0.75, 1.25] : [-0.55, -0.7, 0.6];
    const back = new Vector3().fromArray(from).normalize();
    const right = new Vector3(0, 0, 1).cross(back).normalize(), up = back.clone().cross(right);
    const tall = Math.tan((camera.fov * Math.PI) / 360), wide = tall * camera.aspect;
    const corners = [...Array(8).keys()].map((corner) =>
      new Vector3().fromArray([0, 1, 2].map((axis) => ((corner >> axis) & 1) * sides[axis])));
    const target = new Vector3().fromArray(sides).multiplyScalar(0.5);
    // The numbers along the axes need room around the machine.
    const room = 1 - 2 * Math.min(0.2, LABELS / Math.max(1, this.canvas.clientHeight));
    let distance = 2 * Math.max(...sides);
    camera.up.set(0, 0, 1);
    for (let step = 0; step < 8; step++) {
      camera.position.copy(target).addScaledVector(back, distance);
      camera.lookAt(target);
      camera.updateMatrixWorld();
      const seen = corners.map((corner) => corner.clone().project(camera));
      const [xs, ys] = [seen.map(({ x }) => x), seen.map(({ y }) => y)];
      const [left, high] = [Math.min(...xs), Math.max(...ys)];
      const [most, low] = [Math.max(...xs), Math.min(...ys)];
      target.addScaledVector(right, ((left + most) / 2) * wide * distance);
      target.addScaledVector(up, ((low + high) / 2) * tall * distance);
      distance *= Math.max((most - left) / 2, (high - low) / 2) / room;
    }
    controls.target.copy(target);
    camera.position.copy(target).addScaledVector(back, distance);
    controls.update();
  }

  /** Draws the edges of a box, dashed where the machine wraps around. */
  private outline({ base, sides }: Part, shade: number, dashed: boolean): LineSegments {
    const edges = new EdgesGeometry(new BoxGeometry(sides[0], sides[1], sides[2]));
    const material = dashed
      ? new LineDashedMaterial({ color: shade, dashSize: 0.4, gapSize: 0.3 })
      : new LineBasicMaterial({ color: shade });
    const lines = new LineSegments(edges, material);
    lines.computeLineDistances();
    lines.position.set(base[0] + sides[0] / 2, base[1] + sides[1] / 2, base[2] + sides[2] / 2);
    return lines;
  }

  show(machine: Machine, look: Look, marks: Mark[], moves: Move[]): void {
    // Ages change over time; everything else changes only when the machine does.
    const said = look.by === "age" ? null : JSON.stringify([machine.version, look]);
    if (said === null || said !== this.said || machine !== this.machine) this.build(machine, look);
    this.said = said;
    this.machine = machine;
    if (marks !== this.marked[0] || moves !== this.marked[1]) this.mark(marks, moves);
    this.marked = [marks, moves];
  }

  /** Rebuilds the drawing of a machine. */
  build(machine: Machine, look: Look): void {
    this.begin(machine.grid);
    const made = shapes(machine, look);
    fill(this.cubes, made.faces.attributes);
    this.cubes.geometry.setIndex(new BufferAttribute(made.faces.index, 1));
    fill(this.dots, made.dots.attributes);
    this.shapes = made;
    // Colors are used without conversion.
    this.under.value.setStyle(paper(look.dark).card, LinearSRGBColorSpace);
    if (this.software) this.renderer.setClearColor(paper(look.dark).card);
    this.draw();
  }

  /** Draws boxes and moves over the machine. */
  private mark(boxes: Mark[], moves: Move[]): void {
    if (!this.grid) return;
    this.marks.traverse((old) => {
      const { geometry, material } = old as Partial<Mesh>;
      geometry?.dispose();
      for (const one of [material ?? []].flat()) one.dispose();
    });
    this.marks.clear();
    for (const { part, shade } of boxes)
      for (const piece of pieces(this.grid, part)) this.marks.add(...this.box(piece, shade));
    for (const move of moves) this.marks.add(this.arrow(move));
    this.draw();
  }

  /** Draws a box that stays visible even where cubes are in front of it. */
  private box(part: Part, shade: number): (Mesh | LineSegments)[] {
    const { base: [x, y, z], sides: [w, d, h] } = part;
    // Lines are one pixel wide at any distance, so rods are drawn along the edges.
    const faces = new Mesh(
      new BoxGeometry(w, d, h),
      new MeshBasicMaterial({ color: shade, opacity: 0.16, side: 2, depthWrite: false }),
    );
    faces.position.set(x + w / 2, y + d / 2, z + h / 2);
    const lines = this.outline(part, shade, false);
    above(faces.material);
    above(lines.material as Material);
    faces.renderOrder = 2;
    lines.renderOrder = 3;
    return [faces, lines, ...this.rods(part, shade)];
  }

  private rods({ base, sides }: Part, shade: number): Mesh[] {
    const thick = 0.07, material = new MeshBasicMaterial({ color: shade });
    above(material);
    return [0, 1, 2].flatMap((along) => {
      const [one, two] = [0, 1, 2].filter((axis) => axis !== along);
      return [[0, 0], [0, 1], [1, 0], [1, 1]].map(([a, b]) => {
        const size = [thick, thick, thick], at = [...base];
        size[along] = sides[along] + thick;
        at[along] += sides[along] / 2;
        at[one] += a * sides[one];
        at[two] += b * sides[two];
        const rod = new Mesh(new BoxGeometry(size[0], size[1], size[2]), material);
        rod.position.fromArray(at);
        rod.renderOrder = 3;
        return rod;
      });
    });
  }

  private arrow({ from, to }: Move): ArrowHelper {
    const centre = (part: Part) => new Vector3().fromArray(
      [0, 1, 2].map((axis) => (part.base[axis] ?? 0) + (part.sides[axis] ?? 1) / 2));
    const start = centre(from), way = centre(to).sub(start);
    const length = way.length(), head = Math.min(0.8, length / 2);
    const arrow = new ArrowHelper(way.clone().normalize(), start, length, 0x0a84ff, head, 0.5);
    const rod = new CylinderGeometry(0.1, 0.1, length - head, 8);
    rod.translate(0, (length - head) / 2, 0);
    arrow.add(new Mesh(rod, arrow.cone.material));
    for (const piece of arrow.children) {
      above((piece as Mesh).material as Material);
      piece.renderOrder = 4;
    }
    return arrow;
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement as HTMLElement;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.grain.value = this.renderer.getPixelRatio();
    this.height.value = height * this.grain.value;
    this.sharpness.begin();
    this.fit();
    this.draw();
  }

  private draw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame((now) => {
      this.sharpness.frame(now);
      this.pending = false;
      const began = performance.now();
      this.aim();
      this.renderer.render(this.scene, this.camera);
      if (this.grid && !this.canvas.hidden) this.labels.show(this.grid, this.camera);
      this.spent = performance.now() - began;
    });
  }

  /** Sets the fraction of the screen's pixels to draw along each side. */
  private sharpen(share: number): void {
    const ratio = share * Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.grain.value = ratio;
    this.height.value = (this.canvas.parentElement as HTMLElement).clientHeight * ratio;
    this.draw();
  }

  /** Draws only the cube faces that point toward the camera. */
  private aim(): void {
    const { geometry } = this.cubes;
    geometry.clearGroups();
    const { position } = this.camera;
    for (const { axis, way, plane, start, count } of this.shapes?.faces.groups ?? [])
      if (count && way * (position.getComponent(axis) - plane) > 0)
        geometry.addGroup(start, count, 0);
  }

  turn(dx: number, dy: number): void {
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

  zoom(factor: number): void {
    this.turned = true;
    const offset = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.draw();
  }

  /** Returns the camera position if the user has rotated the machine. */
  eye(): Eye | null {
    if (!this.turned || !this.grid) return null;
    const { radius, phi, theta } = new Spherical().setFromVector3(this.offset());
    const degrees = (angle: number) => Math.round((180 * angle) / Math.PI);
    const share = radius / Math.max(...this.grid.sides);
    return [degrees(theta), degrees(phi), Math.round(100 * share) / 100];
  }

  /** Moves the camera to a position, or shows the whole machine if `null` is given. */
  lookFrom(eye: Eye | null): void {
    this.turned = eye !== null;
    // Before a machine is shown, the position is saved for later.
    this.wanted = this.grid ? null : eye;
    if (!this.grid) return;
    if (!eye) return this.fit();
    const [theta, phi, share] = eye;
    const radians = (degrees: number) => (Math.PI * degrees) / 180;
    const tilt = Math.min(179, Math.max(1, phi)), most = Math.max(...this.grid.sides);
    const distance = Math.min(100, Math.max(0.2, share)) * most;
    const way = new Spherical(distance, radians(tilt), radians(theta));
    const { x, y, z } = new Vector3().setFromSpherical(way);
    this.controls.target.fromArray(this.grid.sides).multiplyScalar(0.5);
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(z, x, y).add(this.controls.target);
    this.controls.update();
    this.draw();
  }

  /** Returns the vector from the machine's center to the camera, reordered for spherical
   * coordinates. */
  private offset(): Vector3 {
    const { x, y, z } = this.camera.position.clone().sub(this.controls.target);
    return new Vector3(y, z, x);
  }

  /** Returns the node under the pointer. */
  pick(event: { clientX: number; clientY: number }): number | null {
    if (!this.grid || !this.shapes) return null;
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1,
      1 - ((event.clientY - box.top) / box.height) * 2,
    );
    const ray = new Raycaster();
    ray.params.Points.threshold = 0.2;
    ray.setFromCamera(at, this.camera);
    const [hit] = ray.intersectObjects([this.cubes, this.dots], false);
    if (!hit) return null;
    if (hit.object === this.dots) return this.shapes.dots.owners[hit.index ?? 0] ?? null;
    return this.shapes.faces.owners[Math.floor((hit.faceIndex ?? 0) / 2)] ?? null;
  }

  /** Returns the number of triangles in the last frame. */
  get triangles(): number { return this.renderer.info.render.triangles; }
}

/** Sets a material to be drawn last (in render order) and without depth testing. */
function above(material: Material): void {
  material.depthTest = false;
  material.transparent = true;
}
