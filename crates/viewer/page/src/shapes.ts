// Builds the three-dimensional drawing of a machine: visible cube faces, and points. It is rebuilt
// after every event, so its parts are first counted, then written to arrays of exactly that length.
import { type By, nodeShades } from "./coloring.ts";
import type { Grid, Key, Machine } from "./model.ts";
import { type Plane, lies } from "./plane.ts";

/** The part of a machine to draw, and its appearance. */
export interface Look { by: By; plane: Plane; selected: Key | null; dark: boolean }

/** The values of an attribute, the number of values per corner, and a flag: true if values are in
 * units of 1/255. */
export type Numbers = [Float32Array | Uint8Array, number, boolean?];

/** The faces that point in one direction. */
interface Direction { axis: number; way: number; plane: number; start: number; count: number }

/** The six faces of a cube: axis, direction, the axes along the two sides, brightness, and a flag.
 * The flag is true if the corners, in the order (0, 0), (1, 0), (1, 1), (0, 1), go clockwise around
 * the face as seen from outside. */
type Face = [number, number, number, number, number, boolean];
const FACES: Face[] = [
  [0, 1, 1, 2, 0.84, false], [0, -1, 1, 2, 0.7, true], [1, 1, 0, 2, 0.78, true],
  [1, -1, 0, 2, 0.88, false], [2, 1, 0, 1, 1, false], [2, -1, 0, 1, 0.6, true],
];
/** The possible appearances of a node, where 0 means not drawn. */
const FREE = 1, OTHER = 2, LOST = 3, HELD = 4;

/** The number of patterns, added to a held node's pattern once if the node is drained or twice if
 * failed. */
export const MARK = 4;

/** Returns each node's appearance, its color as three numbers from 0 to 1, and its pattern. */
function nodes(machine: Machine, { by, plane, selected, dark }: Look) {
  const { grid: g, holder } = machine;
  const kind = new Uint8Array(g.nodes), shade = new Float32Array(3 * g.nodes);
  const pattern = new Uint8Array(g.nodes);
  const free = dark ? [0.36, 0.42, 0.48] : [0.62, 0.67, 0.72];
  // Unselected nodes are drawn in colors close to the background.
  const paper = dark ? 0.1 : 1;
  const shadeAt = nodeShades(machine, by, dark), isThere = lies(g, plane);
  for (let node = 0; node < g.nodes; node++) {
    if (!isThere(node)) continue;
    const key = holder[node], own = shadeAt(node);
    if (key === null) kind[node] = own ? LOST : FREE;
    else kind[node] = selected === null || key === selected ? HELD : OTHER;
    const shown = own?.color ?? free, isOther = kind[node] === OTHER;
    shade.set(isOther ? shown.map((part) => 0.45 * part + 0.55 * paper) : shown, 3 * node);
    const mark = key === null ? 0
      : machine.failed.has(node) ? 2 : machine.drained.has(node) ? 1 : 0;
    pattern[node] = (own?.pattern ?? 0) + MARK * mark;
  }
  return { kind, shade, pattern };
}

/** Returns the nodes whose face in the given direction is visible. Nodes closest to a viewer on
 * that side come first, so that hidden nodes behind them are not shaded. Cubes of held nodes touch;
 * cubes of failed nodes are smaller. */
function visible(
  [axis, way, one, two]: Face, sides: number[], strides: number[], kind: Uint8Array,
) {
  const found: number[] = [], last = sides[axis] - 1;
  for (let step = 0; step <= last; step++) {
    const plane = way > 0 ? last - step : step;
    for (let j = 0; j < sides[two]; j++)
      for (let i = 0; i < sides[one]; i++) {
        const node = plane * strides[axis] + j * strides[two] + i * strides[one];
        const isBare = step === 0 || kind[node + way * strides[axis]] !== HELD;
        if (kind[node] === LOST || (kind[node] === HELD && isBare)) found.push(node);
      }
  }
  return found;
}

/** Returns the points that represent free nodes and the nodes of unselected jobs. */
function points(g: Grid, kind: Uint8Array, shade: Float32Array) {
  const found: number[] = [];
  for (let node = 0; node < g.nodes; node++)
    if (kind[node] === FREE || kind[node] === OTHER) found.push(node);
  const position = new Float32Array(3 * found.length), shades = new Float32Array(3 * found.length);
  const size = new Float32Array(found.length);
  const [w, d] = g.sides;
  found.forEach((node, index) => {
    const place = [node % w, Math.floor(node / w) % d, Math.floor(node / (w * d))];
    position.set(place.map((at) => at + 0.5), 3 * index);
    for (let part = 0; part < 3; part++) shades[3 * index + part] = shade[3 * node + part];
    size[index] = kind[node] === FREE ? 0.06 : 0.1;
  });
  const attributes: Record<string, Numbers> = {
    position: [position, 3], shade: [shades, 3], size: [size, 1],
  };
  return { attributes, owners: found };
}

/** Returns the faces: the attributes of their corners (four per face), the corners of their
 * triangles, and each face's node. For each of the six directions, also returns the range of
 * triangle corners and the plane beyond which the faces are visible. Takes O(nodes) time. */
function faces(
  g: Grid, holder: (Key | null)[],
  { kind, shade, pattern }: ReturnType<typeof nodes>, dark: boolean,
) {
  const { sides } = g, strides = [1, sides[0], sides[0] * sides[1]];
  const seen = FACES.map((face) => visible(face, sides, strides, kind));
  const count = seen.reduce((sum, found) => sum + found.length, 0);
  const position = new Float32Array(12 * count);
  const shades = new Uint8Array(16 * count), wide = new Uint8Array(16 * count);
  const index = new Uint32Array(6 * count), owners = new Uint32Array(count);
  const groups: Direction[] = [], place = [0, 0, 0];
  let at = 0;
  // Returns 0 if a node and its neighbor belong to the same job, and 1 otherwise.
  const apart = (node: number, along: number, way: number) => {
    const next = place[along] + way, other = node + way * strides[along];
    const same = kind[node] === HELD && next >= 0 && next < sides[along] && kind[other] === HELD;
    return same && holder[other] === holder[node] ? 0 : 1;
  };
  FACES.forEach(([axis, way, one, two, bright, clockwise], direction) => {
    // In light mode, dark faces would look dirty.
    const light = dark ? bright : (1 + bright) / 2;
    const furthest = seen[direction].at(-1) ?? 0;
    const plane = Math.floor(furthest / strides[axis]) % sides[axis] + 0.5;
    groups.push({ axis, way, plane, start: 6 * at, count: 6 * seen[direction].length });
    for (const node of seen[direction]) {
      place[0] = node % sides[0];
      place[1] = Math.floor(node / sides[0]) % sides[1];
      place[2] = Math.floor(node / strides[2]);
      const size = kind[node] === HELD ? 1 : 0.5, low = (1 - size) / 2;
      const left = apart(node, one, -1), below = apart(node, two, -1);
      const right = apart(node, one, 1), above = apart(node, two, 1);
      for (let corner = 0; corner < 4; corner++) {
        const to = 12 * at + 3 * corner, bytes = 16 * at + 4 * corner;
        position[to + axis] = place[axis] + low + (way > 0 ? size : 0);
        position[to + one] = place[one] + low + (corner === 1 || corner === 2 ? size : 0);
        position[to + two] = place[two] + low + (corner > 1 ? size : 0);
        for (let part = 0; part < 3; part++)
          shades[bytes + part] = 255 * light * shade[3 * node + part] + 0.5;
        shades[bytes + 3] = pattern[node];
        wide[bytes] = left;
        wide[bytes + 1] = below;
        wide[bytes + 2] = right;
        wide[bytes + 3] = above;
      }
      const from = 6 * at, back = clockwise ? 1 : 0;
      index[from] = index[from + 3] = 4 * at;
      index[from + 1] = 4 * at + 1 + back;
      index[from + 2] = 4 * at + 2 - back;
      index[from + 4] = 4 * at + 2 + back;
      index[from + 5] = 4 * at + 3 - back;
      owners[at++] = node;
    }
  });
  const attributes: Record<string, Numbers> = {
    position: [position, 3], shade: [shades, 4, true], wide: [wide, 4],
  };
  return { attributes, index, owners, groups };
}

/** Returns the points and the faces of a machine. */
export function shapes(machine: Machine, look: Look) {
  const drawn = nodes(machine, look);
  return {
    dots: points(machine.grid, drawn.kind, drawn.shade),
    faces: faces(machine.grid, machine.holder, drawn, look.dark),
  };
}
