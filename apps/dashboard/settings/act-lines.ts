/** The lines of the activity: one per act, and one per series of reads of a log by the same person. */
import type { Act } from './acts.ts';

export interface Line {
  /** the act; for a series of reads the newest one, with the sum of their records */
  act: Act;
  /** RFC 3339: time of the first read of a series; null for a single act */
  since: string | null;
}

/** A pause longer than this, in milliseconds, ends a series. The service notes reads once a minute. */
const pause = 30 * 60_000;

/** Acts and lines are newest first. Another act ends every series. */
export function linesOf(acts: Act[]): Line[] {
  const lines: Line[] = [];
  /** the open series of each person and log */
  const open = new Map<string, Line>();
  for (const act of acts) {
    if (act.act !== 'log.read') open.clear();
    const key = JSON.stringify([act.actor, act.subject]);
    const line = open.get(key);
    if (line && isInOneGo(act.at, line.since ?? line.act.at)) {
      line.act = joined(line.act, act);
      line.since = act.at;
    } else {
      const own = { act, since: null };
      lines.push(own);
      if (act.act === 'log.read') open.set(key, own);
    }
  }
  return lines;
}

const isInOneGo = (earlier: string, later: string): boolean =>
  earlier.slice(0, 10) === later.slice(0, 10) && Date.parse(later) - Date.parse(earlier) <= pause;

const joined = (one: Act, other: Act): Act => {
  const [{ records, what }, { records: more, what: how }] = [one.details, other.details];
  return { ...one, details: { records: Number(records) + Number(more), ...(what === how && { what }) } };
};
