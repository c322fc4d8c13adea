/**
 * Records decisions: each is kept in the browser until the service has it, across pages and days, and reaches the
 * service once, since its id is made when the visitor decides.
 */
import type { Receipt } from '#libs/contract/responses';
import { redate } from './redate.ts';
import type { Report } from './report.ts';
import { send, type Target } from './send.ts';
import { openStorage } from './storage.ts';
import { makeId, timeOf, withTime } from './uuid.ts';

export type { Receipt, Report };

export interface RecordClientOptions extends Target {
  /** The record is safe. `id` is what `record` gave; the receipt's differs where a wrong clock was corrected. */
  onRecorded?: (receipt: Receipt, id: string) => void;
}

export interface RecordClient {
  /** Keeps the decision, sends it, and gives back the record's id. */
  record(report: Report): string;
  /** Sends what waits. */
  flush(): void;
}

/** Records that may wait; the oldest makes room. */
const capacity = 50;
/** Milliseconds: the first wait after a failure, doubled by each further one up to the last. */
const firstWait = 1_000;
const longestWait = 300_000;
/** Milliseconds: the service is left alone for no longer; what seems to be more comes from a clock that was changed. */
const longestOrder = 3_600_000;
/** Milliseconds until what one tab has stored is seen by the others. */
const settling = 100;
const waitName = 'wait';

export function createRecordClient({ onRecorded, ...target }: RecordClientOptions): RecordClient {
  const storage = openStorage(`assent.${target.domain}.`);
  const queue = openStorage(`assent.${target.domain}.queue.`);
  /** ids that are on their way */
  const sending = new Set<string>();
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const drop = (id: string, reason: string) => {
    queue.remove(id);
    console.warn(`assent: record ${id} dropped: ${reason}`);
  };

  /** Milliseconds that the service asked to be left alone, also by a page before this one. */
  const ordered = () => {
    const wait = Number(storage.get(waitName)) - Date.now();
    return wait <= longestOrder ? Math.max(wait, 0) : 0;
  };

  const comeBack = () => {
    clearTimeout(timer);
    timer = undefined;
    void flush();
  };
  const later = (wait: number) => {
    // spread, so that all browsers do not come back in the same moment
    timer ??= setTimeout(comeBack, wait * (1 + Math.random() / 2));
  };

  /** Whether the next one may be tried. */
  async function deliver(id: string): Promise<boolean> {
    const body = queue.get(id);
    if (body === null || sending.has(id)) return true;
    sending.add(id);
    const outcome = await send(target, body);
    sending.delete(id);
    if ('wait' in outcome) return retry(outcome.wait);
    failures = 0;
    if ('serverTime' in outcome) return correct(id, body, outcome.serverTime);
    if ('reason' in outcome) drop(id, outcome.reason);
    else {
      queue.remove(id);
      onRecorded?.(outcome.receipt, id);
    }
    return true;
  }

  function retry(wait: number): false {
    if (wait) storage.set(waitName, String(Date.now() + Math.min(wait, longestOrder)));
    // of many that fail at once only the first counts
    if (timer === undefined) later(Math.min(firstWait * 2 ** failures++, longestWait));
    return false;
  }

  /** Two tabs that correct the same record have to give it the same id: the first one's. */
  async function correct(id: string, sent: string, serverTime: number): Promise<boolean> {
    const report = JSON.parse(sent);
    const time = report.id === id ? redate(timeOf(id), Date.now(), serverTime) : undefined;
    if (time === undefined) {
      drop(id, 'its time is not within the last 30 days');
      return true;
    }
    return alone(async () => {
      await new Promise((resolve) => setTimeout(resolve, settling));
      if (queue.get(id) === sent) queue.set(id, JSON.stringify({ ...report, id: withTime(id, time) }));
      return deliver(id);
    });
  }

  const alone = (work: () => Promise<boolean>): Promise<boolean> =>
    navigator.locks ? navigator.locks.request(`assent.${target.domain}`, work) : work();

  async function flush(): Promise<void> {
    const wait = ordered();
    if (wait > 0) return later(wait);
    // ids begin with their time
    for (const id of queue.names().sort()) if (!(await deliver(id))) return;
  }

  addEventListener('online', () => {
    failures = 0;
    comeBack();
  });
  void flush();

  return {
    record: (report) => {
      const id = makeId(Date.now());
      const waiting = queue.names().sort();
      for (const oldest of waiting.slice(0, Math.max(0, waiting.length - capacity + 1))) drop(oldest, 'too many wait');
      queue.set(id, JSON.stringify({ ...report, id }));
      if (ordered() > 0) void flush();
      // what waits after a failure need wait no longer
      else void deliver(id).then((went) => void (went && flush()));
      return id;
    },
    flush,
  };
}
