// Utilisation and the largest free box over time; dragged over, it goes back in time.
import { columns } from "./thin.js";

export class Chart {
  /** `instant` writes a time. */
  constructor(canvas, onTime, instant) {
    Object.assign(this, { canvas, instant });
    this.series = { busy: [], largest: [] };
    this.end = null;
    this.at = null;
    const drag = (event) => {
      if (event.buttons === 0 && event.type === "pointermove") return;
      const box = canvas.getBoundingClientRect();
      onTime(this.timeAt((event.clientX - box.left) / box.width));
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); drag(event); });
    canvas.addEventListener("pointermove", drag);
  }

  /** From the first value to the end of time: now, or the end of the schedule. */
  span() {
    const { busy } = this.series, first = busy[0]?.at ?? (this.end ?? 1) - 1;
    return [first, Math.max(this.end ?? busy.at(-1)?.at ?? 1, first + 1)];
  }

  timeAt(share) {
    const [first, last] = this.span();
    return first + Math.min(1, Math.max(0, share)) * (last - first);
  }

  /** `end` is where the axis ends, and `isNow` whether that is now. */
  show({ series, nodes, at, dark, end, isNow }) {
    Object.assign(this, { series, nodes, at, dark, end, isNow });
    this.draw();
  }

  /** The ends of both axes. */
  labels(pen, width, height) {
    if (!this.series.busy.length && this.end === null) return;
    const [first, last] = this.span();
    pen.font = "11px system-ui";
    pen.fillStyle = this.dark ? "#9aa7b5" : "#5b6673";
    pen.strokeStyle = this.dark ? "#1a212a" : "#fff";
    pen.lineWidth = 4;
    // Over the lines, and apart from them.
    const write = (text, x, y) => { pen.strokeText(text, x, y); pen.fillText(text, x, y); };
    const end = this.isNow ? `now, ${this.instant(last)}` : this.instant(last);
    write(`${this.nodes} nodes`, 6, 16);
    const begins = this.instant(first);
    // On a phone the end alone has room.
    if (pen.measureText(begins).width + pen.measureText(end).width < width - 24) write(begins, 6, height - 6);
    write(end, width - 6 - pen.measureText(end).width, height - 6);
  }

  /**
   * A step function. Where it changes once in a column of points, the line is where it changes. Where it
   * changes more often, a band goes from the least to the greatest value; of many such columns side by side
   * the band is pale, and the line is the mean.
   */
  line(pen, found, y, width, shade, dash) {
    const isDense = (place) => found[place]?.changes > 1;
    const beside = (place, step) => isDense(place + step) && found[place + step].column === found[place].column + step;
    pen.fillStyle = pen.strokeStyle = shade;
    found.forEach(({ column, least, most }, place) => {
      if (!isDense(place)) return;
      const isPale = beside(place, -1) || beside(place, 1);
      this.isPale ||= isPale;
      pen.globalAlpha = isPale ? 0.4 : 1;
      pen.fillRect(column, y(most) - 0.8, 1, y(least) - y(most) + 1.6);
    });
    pen.globalAlpha = 1;
    pen.setLineDash(dash);
    pen.beginPath();
    found.forEach(({ column, x, enters, leaves, mean }, place) => {
      if (!isDense(place)) {
        if (enters !== null) pen.lineTo(x, y(enters));
        return pen.lineTo(x, y(leaves));
      }
      if (!beside(place, -1) && enters !== null) pen.lineTo(column, y(enters));
      if (beside(place, -1) || beside(place, 1)) pen.lineTo(column + 0.5, y(mean));
      else pen.moveTo(column + 1, y(leaves));
      if (!beside(place, 1)) pen.lineTo(column + 1, y(leaves));
    });
    if (found.length) pen.lineTo(width, y(found.at(-1).leaves));
    pen.stroke();
    pen.setLineDash([]);
  }

  draw() {
    const { canvas, series, nodes, dark } = this;
    const width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const [first, last] = this.span();
    const x = (at) => ((at - first) / (last - first)) * width;
    const y = (value) => height - 2 - (value / nodes) * (height - 6);
    pen.strokeStyle = dark ? "#39434f" : "#d3dae2";
    for (const share of [0, 0.5, 1]) { pen.beginPath(); pen.moveTo(0, y(share * nodes)); pen.lineTo(width, y(share * nodes)); pen.stroke(); }
    const line = (points, shade, dash) => this.line(pen, columns(points, first, last, width), y, width, shade, dash);
    pen.lineWidth = 1.6;
    pen.lineJoin = "round";
    this.isPale = false;
    line(series.largest, dark ? "#7fd4a0" : "#1d7f46", [5, 3]);
    line(series.busy, dark ? "#6db3ff" : "#1769c2", []);
    this.labels(pen, width, height);
    if (this.at !== null) {
      pen.strokeStyle = dark ? "#fff" : "#000";
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(x(this.at), 0);
      pen.lineTo(x(this.at), height);
      pen.stroke();
    }
  }
}
