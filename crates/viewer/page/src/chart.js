// Utilisation and the largest free box over time; dragged over, it goes back in time.

export class Chart {
  /** `instant` writes a time. */
  constructor(canvas, onTime, instant) {
    Object.assign(this, { canvas, instant });
    this.samples = [];
    this.at = null;
    const drag = (event) => {
      if (event.buttons === 0 && event.type === "pointermove") return;
      const box = canvas.getBoundingClientRect();
      onTime(this.timeAt((event.clientX - box.left) / box.width));
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); drag(event); });
    canvas.addEventListener("pointermove", drag);
  }

  span() {
    const first = this.samples[0]?.at ?? 0, last = this.samples.at(-1)?.at ?? 1;
    return [first, Math.max(last, first + 1)];
  }

  timeAt(share) {
    const [first, last] = this.span();
    return first + Math.min(1, Math.max(0, share)) * (last - first);
  }

  show(samples, nodes, at, dark) {
    Object.assign(this, { samples, nodes, at, dark });
    this.draw();
  }

  /** The ends of both axes. */
  labels(pen, width, height) {
    if (!this.samples.length) return;
    const [first, last] = this.span();
    pen.font = "11px system-ui";
    pen.fillStyle = this.dark ? "#9aa7b5" : "#5b6673";
    pen.strokeStyle = this.dark ? "#1a212a" : "#fff";
    pen.lineWidth = 4;
    // Over the lines, and apart from them.
    const write = (text, x, y) => { pen.strokeText(text, x, y); pen.fillText(text, x, y); };
    const end = this.instant(last);
    write(`${this.nodes} nodes`, 6, 16);
    write(this.instant(first), 6, height - 6);
    write(end, width - 6 - pen.measureText(end).width, height - 6);
  }

  draw() {
    const { canvas, samples, nodes, dark } = this;
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
    const line = (value, shade, dash) => {
      pen.strokeStyle = shade;
      pen.setLineDash(dash);
      pen.beginPath();
      samples.forEach((sample, index) => {
        if (index) pen.lineTo(x(sample.at), y(value(samples[index - 1])));
        else pen.moveTo(x(sample.at), y(value(sample)));
        pen.lineTo(x(sample.at), y(value(sample)));
      });
      pen.stroke();
      pen.setLineDash([]);
    };
    pen.lineWidth = 1.6;
    line((one) => one.busy, dark ? "#6db3ff" : "#1769c2", []);
    line((one) => one.largest, dark ? "#7fd4a0" : "#1d7f46", [5, 3]);
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
