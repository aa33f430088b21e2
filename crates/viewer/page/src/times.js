// Times as the service writes them.

/** Milliseconds since 1970, of a number of them or of a time as RFC 3339 has it; null if there is none. */
export function millis(time) {
  if (time === null || time === undefined) return null;
  const ms = typeof time === "number" ? time : Date.parse(time);
  return Number.isFinite(ms) ? ms : null;
}

/** A time of an object, under its name or, from an older service, under the name with `_ms`. */
export const timeOf = (object, name) => millis(object[name] ?? object[`${name}_ms`]);

/** A sentence of the service, with its times as the reader's clock has them. */
export const local = (sentence) =>
  sentence.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => new Date(time).toLocaleString());
