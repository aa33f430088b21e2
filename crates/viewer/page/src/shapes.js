// What is drawn of a machine in three dimensions: the faces of cubes that can be seen, and points. It is
// made anew after every event, and therefore counted first and then written into arrays of that length.
import { colour } from "./model.js";

/**
 * The six faces of a cube: axis, direction, the axes along its two sides, how light it is, and whether its
 * corners, in the order (0, 0), (1, 0), (1, 1), (0, 1), go around it clockwise as seen from outside.
 */
const FACES = [
  [0, 1, 1, 2, 0.84, false], [0, -1, 1, 2, 0.7, true], [1, 1, 0, 2, 0.78, true],
  [1, -1, 0, 2, 0.88, false], [2, 1, 0, 1, 1, false], [2, -1, 0, 1, 0.6, true],
];
/** How a node is drawn; 0 if not at all. */
const FREE = 1, OTHER = 2, LOST = 3, HELD = 4;

/** How each node is drawn, and its colour as three numbers from 0 to 1, which is found once for each job. */
function nodes(machine, { by, layer, selected, dark }) {
  const { grid: { nodes, sides }, holder } = machine;
  const kind = new Uint8Array(nodes), shade = new Float32Array(3 * nodes), known = new Map();
  const free = dark ? [0.33, 0.38, 0.44] : [0.7, 0.74, 0.78];
  const flat = sides[0] * sides[1];
  // None, if there is no such layer.
  const first = layer === null ? 0 : layer * flat, end = layer === null ? nodes : Math.min(nodes, first + flat);
  for (let node = first; node < end; node++) {
    const key = holder[node];
    let light = known.get(key);
    if (light === undefined || key === null) {
      const c = colour(machine, node, by, dark);
      light = c ?? free;
      if (key === null) kind[node] = c ? LOST : FREE;
      else known.set(key, light);
    }
    if (key !== null) kind[node] = selected === null || key === selected ? HELD : OTHER;
    shade.set(light, 3 * node);
  }
  return { kind, shade };
}

/**
 * The nodes whose face in a direction can be seen, the nearest first for an eye on that side: what they
 * hide need not be coloured. Cubes that are held touch; those of nodes that failed are smaller.
 */
function visible([axis, way, one, two], sides, strides, kind) {
  const found = [], last = sides[axis] - 1;
  for (let step = 0; step <= last; step++) {
    const plane = way > 0 ? last - step : step;
    for (let j = 0; j < sides[two]; j++)
      for (let i = 0; i < sides[one]; i++) {
        const node = plane * strides[axis] + j * strides[two] + i * strides[one];
        if (kind[node] === LOST || (kind[node] === HELD && (step === 0 || kind[node + way * strides[axis]] !== HELD)))
          found.push(node);
      }
  }
  return found;
}

/** The points: free nodes, and those of jobs that are not singled out. */
function points(g, kind, shade) {
  const found = [];
  for (let node = 0; node < g.nodes; node++) if (kind[node] === FREE || kind[node] === OTHER) found.push(node);
  const position = new Float32Array(3 * found.length), shades = new Float32Array(3 * found.length);
  const size = new Float32Array(found.length);
  const [w, d] = g.sides;
  found.forEach((node, index) => {
    position.set([node % w + 0.5, Math.floor(node / w) % d + 0.5, Math.floor(node / (w * d)) + 0.5], 3 * index);
    for (let part = 0; part < 3; part++) shades[3 * index + part] = shade[3 * node + part];
    size[index] = kind[node] === FREE ? 0.06 : 0.12;
  });
  return { position: [position, 3], shade: [shades, 3], size: [size, 1] };
}

/**
 * The faces: attributes of their corners, four to a face; the corners of their triangles; the node of
 * each face; and for each direction its axis and way, a plane that an eye must be beyond to see any of its
 * faces, and its part of the triangles' corners. O(nodes).
 */
function faces(g, holder, kind, shade) {
  const { sides } = g, strides = [1, sides[0], sides[0] * sides[1]];
  const seen = FACES.map((face) => visible(face, sides, strides, kind));
  const count = seen.reduce((sum, found) => sum + found.length, 0);
  const position = new Float32Array(12 * count), shades = new Uint8Array(16 * count), wide = new Uint8Array(16 * count);
  const index = new Uint32Array(6 * count), owners = new Uint32Array(count), groups = [], place = [0, 0, 0];
  let at = 0;
  // Whether the line to the next node is that between two jobs.
  const apart = (node, along, way) => {
    const next = place[along] + way, other = node + way * strides[along];
    const same = kind[node] === HELD && next >= 0 && next < sides[along] && kind[other] === HELD;
    return same && holder[other] === holder[node] ? 0 : 1;
  };
  FACES.forEach(([axis, way, one, two, light, clockwise], direction) => {
    const furthest = seen[direction].at(-1) ?? 0;
    const plane = Math.floor(furthest / strides[axis]) % sides[axis] + 0.5;
    groups.push({ axis, way, plane, start: 6 * at, count: 6 * seen[direction].length });
    for (const node of seen[direction]) {
      place[0] = node % sides[0];
      place[1] = Math.floor(node / sides[0]) % sides[1];
      place[2] = Math.floor(node / strides[2]);
      const size = kind[node] === HELD ? 1 : 0.5, low = (1 - size) / 2;
      const left = apart(node, one, -1), below = apart(node, two, -1), right = apart(node, one, 1), above = apart(node, two, 1);
      for (let corner = 0; corner < 4; corner++) {
        const to = 12 * at + 3 * corner, bytes = 16 * at + 4 * corner;
        position[to + axis] = place[axis] + low + (way > 0 ? size : 0);
        position[to + one] = place[one] + low + (corner === 1 || corner === 2 ? size : 0);
        position[to + two] = place[two] + low + (corner > 1 ? size : 0);
        for (let part = 0; part < 3; part++) shades[bytes + part] = 255 * light * shade[3 * node + part] + 0.5;
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
  return { attributes: { position: [position, 3], shade: [shades, 4, true], wide: [wide, 4] }, index, owners, groups };
}

/** The points and the faces of a machine. */
export function shapes(machine, options) {
  const { kind, shade } = nodes(machine, options);
  return { dots: points(machine.grid, kind, shade), faces: faces(machine.grid, machine.holder, kind, shade) };
}
