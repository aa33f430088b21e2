// The columns of the lists of leases, waiting requests and refused requests.
import { type By, shadeOf } from "./coloring.ts";
import { plain } from "./dom.ts";
import type { Refusal, Told, Wait } from "./live.ts";
import type { Lease, Machine, Waiting } from "./model.ts";
import { startsColumn } from "./starts.ts";
import type { Column } from "./column.ts";
import { type Clock, local, short } from "./times.ts";
import { boxes, nameOf, sidesOf, where, whose } from "./words.ts";

/** The data that the columns show. */
export interface Scene {
  machine: Machine;
  by: By;
  dark: boolean;
  clock: Clock;
  /** The reasons why requests are waiting, and the requests' start times if known. */
  waits: Map<unknown, Told>;
}

const count = (nodes: number): string => nodes.toLocaleString("en");
const nameOrder = (one: { job: unknown; key: unknown }): number | string => {
  const name = one.job ?? one.key;
  return typeof name === "number" ? name : String(name);
};

export function jobColumns(scene: () => Scene): Column<Lease>[] {
  const age = (lease: Lease) => (lease.begins === null ? null : scene().machine.now - lease.begins);
  const left = (lease: Lease) => (lease.ends === null ? null : lease.ends - scene().machine.now);
  return [
    {
      id: "job", title: "Job", wide: 24, isName: true, text: nameOf, order: nameOrder,
      patch(lease) {
        const { machine, by, dark } = scene();
        return shadeOf(machine, lease, by, dark);
      },
    },
    { id: "tenant", title: "Tenant", wide: 14, isMinor: true, text: whose, order: whose },
    {
      id: "nodes", title: "Nodes", wide: 11, isNumber: true, text: ({ nodes }) => count(nodes),
      order: ({ nodes }) => nodes,
      hint: ({ nodes, requested }) =>
        (requested === null || requested === nodes
          ? count(nodes) : `${count(nodes)}, requested ${count(requested)}`),
    },
    {
      id: "box", title: "Box", wide: 14, text: ({ parts }) => boxes(parts),
      hint: ({ parts }) => where(parts),
    },
    {
      id: "place", title: "At", wide: 13, text: ({ parts }) => parts[0]?.base.join(",") ?? "",
      order: ({ parts }) => parts[0]?.base.reduceRight((sum, at) => 65536 * sum + at, 0) ?? null,
      hint: ({ parts }) => where(parts),
    },
    {
      id: "age", title: "Age", wide: 10, isNumber: true, order: age,
      text(lease) { const ms = age(lease); return ms === null ? "" : short(ms); },
      hint: ({ begins }) => (begins === null ? "" : `since ${scene().clock.at(begins)}`),
    },
    {
      id: "ends", title: "Ends in", wide: 14, isNumber: true, order: left,
      text(lease) { const ms = left(lease); return ms === null ? "—" : short(Math.max(0, ms)); },
      hint: ({ ends }) =>
        (ends === null ? "when its holder ends it" : `at ${scene().clock.at(ends)}`),
    },
  ];
}

/** Summarizes in a word or two why a request is waiting. */
function awaited(wait: Wait | null | undefined): string {
  if (!wait) return "";
  const { by, kind } = wait;
  const other = by && (by.id === null ? "another tenant" : plain(by.job ?? by.id));
  if (kind === "reservation") return `reserved: ${other}`;
  if (kind === "turn") return other ? `after ${other}` : "its turn";
  const known: Record<string, string> =
    { nodes: "more nodes", place: "a place", scheduler: "the scheduler" };
  return Object.hasOwn(known, kind) ? known[kind] : plain(kind, 40);
}

/** Returns the columns for waiting requests. `why` shows the explanation for a request. */
export function waitingColumns(scene: () => Scene, why: (one: Waiting) => void): Column<Waiting>[] {
  const since = (one: Waiting) => (one.asked === null ? null : scene().machine.now - one.asked);
  const wait = (one: Waiting) => scene().waits.get(one.key)?.wait;
  return [
    { id: "job", title: "Job", wide: 17, isName: true, text: nameOf, order: nameOrder },
    {
      id: "tenant", title: "Tenant", wide: 12, isMinor: true, order: ({ tenant }) => tenant ?? "",
      text: ({ tenant }) => plain(tenant ?? ""),
    },
    {
      id: "nodes", title: "Nodes", wide: 10, isNumber: true, text: ({ nodes }) => count(nodes),
      order: ({ nodes }) => nodes,
    },
    { id: "box", title: "Shape", wide: 13, text: ({ shape }) => (shape ? sidesOf(shape) : "any") },
    {
      id: "age", title: "Waits", wide: 9, isNumber: true, isMinor: true, order: since,
      text(one) { const ms = since(one); return ms === null ? "" : short(ms); },
      hint: ({ asked }) => (asked === null ? "" : `since ${scene().clock.at(asked)}`),
    },
    startsColumn(scene),
    {
      id: "reason", title: "Waits for", wide: 20, text: (one) => awaited(wait(one)) || "why?",
      hint: (one) => local(plain(wait(one)?.sentence ?? "ask the service", 400)), act: why,
      order: (one) => awaited(wait(one)) || null,
    },
  ];
}

export function refusedColumns(scene: () => Scene): Column<Refusal>[] {
  return [
    {
      id: "job", title: "Job", wide: 18, isName: true, order: nameOrder,
      text: (one) => plain(one.job ?? "no name"),
    },
    {
      id: "tenant", title: "Tenant", wide: 12, isMinor: true, order: ({ tenant }) => tenant ?? "",
      text: ({ tenant }) => plain(tenant ?? "operator"),
    },
    {
      id: "nodes", title: "Nodes", wide: 10, isNumber: true, text: ({ nodes }) => count(nodes),
      order: ({ nodes }) => nodes,
    },
    { id: "box", title: "Shape", wide: 13, text: ({ shape }) => (shape ? sidesOf(shape) : "any") },
    {
      id: "when", title: "When", wide: 16, isNumber: true, order: ({ at }) => at,
      text: ({ at }) => scene().clock.tick(at, 1000), hint: ({ at }) => scene().clock.at(at),
    },
    {
      id: "reason", title: "Reason", wide: 31, text: ({ reason }) => plain(reason),
      hint: ({ detail }) => plain(detail, 400), order: ({ reason }) => reason,
    },
  ];
}
