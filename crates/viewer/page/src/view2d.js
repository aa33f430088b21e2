// The machine in two dimensions: its layers side by side, the origin at the lower left.
import { css } from "./colours.js";
import { colour, number, pieces } from "./model.js";

export class View2d {
  constructor(canvas, onPick) {
    this.canvas = canvas;
    this.boxes = [];
    this.moves = [];
    canvas.addEventListener("click", (event) => onPick(this.pick(event)));
  }

  show(machine, options) {
    this.machine = machine;
    this.options = options;
    this.draw();
  }

  mark(boxes, moves) {
    this.boxes = boxes;
    this.moves = moves;
    this.draw();
  }

  resize() { this.draw(); }
  turn() {}
  zoom() {}

  /** Where the layers lie: how many side by side, and the width of a node. */
  layout(width, height) {
    const [w, d, h] = this.machine.grid.sides;
    const layers = this.options.layer === null ? [...Array(h).keys()] : [this.options.layer];
    let best = null;
    for (let across = 1; across <= layers.length; across++) {
      const down = Math.ceil(layers.length / across);
      const cell = Math.min((width - 8) / (across * (w + 1)), (height - 8) / (down * (d + 1.6)));
      if (!best || cell > best.cell) best = { across, cell };
    }
    // In the middle of what there is.
    const { across, cell } = best, down = Math.ceil(layers.length / across);
    const left = Math.max(6, (width - (across * (w + 1) - 1) * cell) / 2);
    const top = Math.max(4, (height - down * (d + 1.6) * cell) / 2);
    const place = layers.map((z, index) => ({
      z,
      x: left + (index % across) * (w + 1) * cell,
      y: top + Math.floor(index / across) * (d + 1.6) * cell + cell * 0.9,
    }));
    return { cell: best.cell, place };
  }

  draw() {
    if (!this.machine) return;
    const { machine, canvas } = this;
    const { by, selected, dark } = this.options;
    const { clientWidth: width, clientHeight: height } = canvas.parentElement;
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const [w, d, h] = machine.grid.sides;
    const { cell, place } = this.layout(width, height);
    pen.font = `${Math.max(9, Math.min(13, cell * 0.7))}px system-ui`;
    for (const { z, x, y } of place) {
      pen.fillStyle = dark ? "#9aa7b5" : "#5b6673";
      if (h > 1) pen.fillText(`z = ${z}`, x, y - cell * 0.15);
      for (let j = 0; j < d; j++)
        for (let i = 0; i < w; i++) {
          const node = number(machine.grid, [i, j, z]);
          const c = colour(machine, node, by, dark), key = machine.holder[node];
          const dim = selected !== null && key !== null && key !== selected;
          pen.fillStyle = c === null ? (dark ? "#232b35" : "#e8ecf1") : css(c, dim ? 0.25 : 1);
          const px = x + i * cell, py = y + (d - 1 - j) * cell, gap = Math.min(1, cell * 0.08);
          pen.fillRect(px + gap, py + gap, cell - 2 * gap, cell - 2 * gap);
          if (machine.failed.has(node) || machine.drained.has(node)) {
            // Over a job the mark is in the colour of the paper's ink; over its own patch, in the paper's.
            pen.strokeStyle = (key === null) === dark ? "#000" : "#fff";
            pen.beginPath();
            pen.moveTo(px + cell * 0.25, py + cell * 0.75);
            pen.lineTo(px + cell * 0.75, py + cell * 0.25);
            if (machine.failed.has(node)) { pen.moveTo(px + cell * 0.25, py + cell * 0.25); pen.lineTo(px + cell * 0.75, py + cell * 0.75); }
            pen.stroke();
          }
        }
      this.borders(pen, x, y, cell, dark);
    }
    // One inside the other, so that edges that lie on each other are both seen.
    this.boxes.forEach(({ part, shade }, index) => this.box(pen, part, shade, place, cell, 3 * (this.boxes.length - 1 - index)));
    for (const move of this.moves) this.arrow(pen, move, place, cell);
  }

  /** A border is dashed where the machine goes on at the other end. */
  borders(pen, x, y, cell, dark) {
    const { sides: [w, d], wraps } = this.machine.grid;
    pen.strokeStyle = dark ? "#7d8a99" : "#6b7785";
    pen.lineWidth = 1;
    for (const [axis, lines] of [[0, [[x, y, x, y + d * cell], [x + w * cell, y, x + w * cell, y + d * cell]]], [1, [[x, y, x + w * cell, y], [x, y + d * cell, x + w * cell, y + d * cell]]]]) {
      pen.setLineDash(wraps[axis] ? [3, 3] : []);
      for (const [a, b, c, e] of lines) { pen.beginPath(); pen.moveTo(a, b); pen.lineTo(c, e); pen.stroke(); }
    }
    pen.setLineDash([]);
  }

  box(pen, part, shade, place, cell, inset) {
    const depth = this.machine.grid.sides[1];
    pen.strokeStyle = `#${shade.toString(16).padStart(6, "0")}`;
    pen.lineWidth = 2.5;
    for (const { base, sides } of pieces(this.machine.grid, part))
      for (const { z, x, y } of place)
        if (z >= base[2] && z < base[2] + sides[2])
          pen.strokeRect(
            x + base[0] * cell + inset, y + (depth - base[1] - sides[1]) * cell + inset,
            sides[0] * cell - 2 * inset, sides[1] * cell - 2 * inset,
          );
    pen.lineWidth = 1;
  }

  /** An arrow from the middle of a box to the middle of another, in the layers in which they begin. */
  arrow(pen, { from, to }, place, cell) {
    const middle = (part) => {
      const layer = place.find(({ z }) => z === (part.base[2] ?? 0));
      const half = (axis) => (part.base[axis] ?? 0) + (part.sides[axis] ?? 1) / 2;
      return layer && [layer.x + half(0) * cell, layer.y + (this.machine.grid.sides[1] - half(1)) * cell];
    };
    const start = middle(from), end = middle(to);
    if (!start || !end) return;
    const angle = Math.atan2(end[1] - start[1], end[0] - start[0]), tip = Math.max(7, cell * 0.5);
    pen.strokeStyle = pen.fillStyle = "#0a84ff";
    pen.lineWidth = 3;
    pen.beginPath();
    pen.moveTo(...start);
    pen.lineTo(...end);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(...end);
    for (const turn of [2.6, -2.6]) pen.lineTo(end[0] + tip * Math.cos(angle + turn), end[1] + tip * Math.sin(angle + turn));
    pen.fill();
    pen.lineWidth = 1;
  }

  pick(event) {
    if (!this.machine) return null;
    const box = this.canvas.getBoundingClientRect();
    const { cell, place } = this.layout(box.width, box.height);
    const [w, d] = this.machine.grid.sides;
    for (const { z, x, y } of place) {
      const i = Math.floor((event.clientX - box.left - x) / cell);
      const j = d - 1 - Math.floor((event.clientY - box.top - y) / cell);
      if (i >= 0 && i < w && j >= 0 && j < d) return number(this.machine.grid, [i, j, z]);
    }
    return null;
  }
}
