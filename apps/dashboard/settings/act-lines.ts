/** The lines of the activity: one for each act, and one for what somebody reads of a log in one go. */
import type { Act } from './acts.ts';

export interface Line {
  /** of several reads the newest, with the sum of their records */
  act: Act;
  /** RFC 3339: when the first of several reads was; null for one act */
  since: string | null;
}

/** Milliseconds without a read after which the next one is another line. The service notes reads once a minute. */
const pause = 30 * 60_000;

/** `acts`: newest first, and so are the lines. Reads stay on their side of every other act. */
export function linesOf(acts: Act[]): Line[] {
  const lines: Line[] = [];
  /** the last line of each person and log since the last other act */
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
