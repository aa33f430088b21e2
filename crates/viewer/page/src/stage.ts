// The area that shows the machine in one of two views, and handles pointer and keyboard input.
import type { Dimensions } from "./address.ts";
import { attributes, element, find, write } from "./dom.ts";
import type { Mark, Move } from "./marks.ts";
import type { Key, Machine } from "./model.ts";
import { AXES, type Plane, hasPlanes } from "./plane.ts";
import type { Look } from "./shapes.ts";
import type { Clock } from "./times.ts";
import { Tip, nodeLines } from "./tip.ts";
import { View2d } from "./view2d.ts";
import { type Eye, View3d } from "./view3d.ts";

export interface StageActs {
  pick(key: Key | null): void;
  plane(plane: Plane): void;
  changed(): void;
  clock(): Clock;
}

export class Stage {
  readonly flat: View2d;
  readonly deep: View3d | null;
  private view: View2d | View3d;
  private machine: Machine | null = null;
  private shown: [Machine, Look, Mark[], Move[]] | null = null;
  private readonly place = find("stage");
  private readonly tip = new Tip("tip");
  /** The position of the last pointer press, stored because dragging must not select a node. */
  private pressed: { x: number; y: number } | null = null;
  private hovers = false;

  constructor(private readonly acts: StageActs) {
    this.flat = new View2d(find<HTMLCanvasElement>("flat"));
    this.deep = this.begin();
    this.view = this.flat;
    find("two").onclick = () => { this.choose("2d"); acts.changed(); };
    find("three").onclick = () => { this.choose("3d"); acts.changed(); };
    find("whole").onclick = () => this.whole();
    for (const canvas of this.place.querySelectorAll("canvas")) this.listen(canvas);
    this.place.addEventListener("keydown", (event) => this.key(event));
    this.place.addEventListener("blur", () => {
      this.tip.hide();
      this.flat.cursor = null;
      this.view.resize();
    });
    new ResizeObserver(() => this.view.resize()).observe(this.place);
    const [axis, plane] = [find<HTMLSelectElement>("axis"), find<HTMLSelectElement>("plane")];
    axis.onchange = () => acts.plane({ axis: Number(axis.value), at: null });
    plane.onchange = () =>
      acts.plane({ axis: Number(axis.value), at: plane.value === "" ? null : Number(plane.value) });
  }

  /** Starts the three-dimensional view if the browser supports it. */
  private begin(): View3d | null {
    try {
      return new View3d(find<HTMLCanvasElement>("deep"), find("axes"), () => this.acts.changed());
    } catch {
      const three = find<HTMLButtonElement>("three");
      three.disabled = true;
      three.title = "this browser does not support WebGL";
      return null;
    }
  }

  get isDeep(): boolean { return this.view === this.deep; }

  choose(dimensions: Dimensions): void {
    this.view = dimensions === "3d" && this.deep ? this.deep : this.flat;
    if (this.deep) this.deep.canvas.hidden = !this.isDeep;
    this.flat.canvas.hidden = this.isDeep;
    find("axes").hidden = !this.isDeep;
    attributes(find("three"), { "aria-pressed": String(this.isDeep) });
    attributes(find("two"), { "aria-pressed": String(!this.isDeep) });
    this.tip.hide();
    this.turned();
    if (this.shown) this.view.show(...this.shown);
    this.view.resize();
  }

  show(machine: Machine, look: Look, marks: Mark[], moves: Move[]): void {
    this.machine = machine;
    this.shown = [machine, look, marks, moves];
    this.view.show(machine, look, marks, moves);
    this.planes(look.plane);
    this.turned();
  }

  /** Shows the plane selector if the machine has several planes. */
  private planes({ axis, at }: Plane): void {
    const { grid } = this.machine as Machine, select = find<HTMLSelectElement>("plane");
    find("planes").hidden = !hasPlanes(grid);
    const said = `${grid.text} ${axis}`;
    if (select.dataset.said !== said) {
      select.dataset.said = said;
      const one = (value: string, text: string) => element("option", { value }, text);
      const all = [...Array(grid.sides[axis]).keys()];
      const named = all.map((at) => one(String(at), `${AXES[axis]} = ${at}`));
      select.replaceChildren(one("", "all"), ...named);
      find<HTMLSelectElement>("axis").value = String(axis);
    }
    select.value = at === null ? "" : String(at);
  }

  private turned(): void { find("whole").hidden = !(this.isDeep && this.eye()); }

  eye(): Eye | null { return this.isDeep ? this.deep?.eye() ?? null : null; }
  lookFrom(eye: Eye | null): void { this.deep?.lookFrom(eye); this.turned(); }
  whole(): void { this.lookFrom(null); this.acts.changed(); }

  private listen(canvas: HTMLCanvasElement): void {
    canvas.addEventListener("pointerdown", ({ clientX: x, clientY: y }) => {
      this.pressed = { x, y };
    });
    canvas.addEventListener("click", (event) => {
      const { x, y } = this.pressed ?? { x: event.clientX, y: event.clientY };
      if (Math.hypot(event.clientX - x, event.clientY - y) > 4) return;
      const node = this.view.pick(event);
      this.acts.pick(node === null ? null : this.machine?.holder[node] ?? null);
    });
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => { this.hovers = false; this.tip.hide(); });
  }

  /** Casts a ray through the machine to find the node under the pointer, at most once per frame. */
  private hover(event: PointerEvent): void {
    const { clientX, clientY, buttons } = event, waits = this.hovers;
    this.hovers = true;
    if (buttons) return this.tip.hide();
    if (waits) return;
    requestAnimationFrame(() => {
      if (!this.hovers || !this.machine) return;
      this.hovers = false;
      const node = this.view.pick({ clientX, clientY }), box = this.place.getBoundingClientRect();
      if (node === null || node >= this.machine.grid.nodes) return this.tip.hide();
      const lines = nodeLines(this.machine, node, this.acts.clock());
      this.tip.show(lines, clientX - box.left, clientY - box.top);
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = {
      ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0],
      PageUp: [0, 0, 1], PageDown: [0, 0, -1],
    }[event.key];
    if (way && this.deep && this.isDeep && !way[2]) this.deep.turn(0.1 * way[0], -0.1 * way[1]);
    else if (way && !this.isDeep) this.walk(way);
    else if (this.deep && this.isDeep && /^[+=-]$/.test(event.key))
      this.deep.zoom(event.key === "-" ? 1.1 : 0.9);
    else if (event.key === "Enter" && this.flat.cursor !== null && !this.isDeep)
      this.acts.pick(this.machine?.holder[this.flat.cursor] ?? null);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.turned();
    if (this.isDeep) this.acts.changed();
  }

  /** Moves the keyboard cursor to another node, then announces and shows that node. */
  private walk([right, up, across]: number[]): void {
    const node = this.flat.step(right, up, across), { machine } = this;
    const spot = node === null ? null : this.flat.where(node);
    if (node === null || !machine || !spot) return;
    const lines = nodeLines(machine, node, this.acts.clock());
    this.tip.show(lines, spot.x, spot.y);
    write("spoken", lines.join(", "));
  }
}
