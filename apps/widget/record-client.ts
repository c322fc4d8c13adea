/**
 * Sends decisions to the service. Each one is stored in the browser until the service has it, across pages and days. Its
 * id is created with the decision, so that retries do not duplicate it.
 */
import type { Receipt } from '#libs/contract/responses';
import { redate } from './redate.ts';
import type { Report } from './report.ts';
import { send, type Target } from './send.ts';
import { openStorage } from './storage.ts';
import { makeId, timeOf, withTime } from './uuid.ts';

export type { Receipt, Report };

export interface RecordClientOptions extends Target {
  /** The record is stored. `id` is what `record` returned; the receipt's id differs where a clock was corrected. */
  onRecorded?: (receipt: Receipt, id: string) => void;
}

export interface RecordClient {
  /** Stores and sends the decision. Returns the record's id. */
  record(report: Report): string;
  /** Sends all waiting records. */
  flush(): void;
}

/** Most records that may wait. Beyond that, the oldest is dropped. */
const capacity = 50;
/** Milliseconds: the wait after a failure, doubled with each further one up to the longest. */
const firstWait = 1_000;
const longestWait = 300_000;
/** Milliseconds: the longest `Retry-After` that is respected. A longer remainder means that the clock was changed. */
const longestRetryAfter = 3_600_000;
/** Milliseconds until other tabs see what one tab has stored. */
const settling = 100;
const waitName = 'wait';

export function createRecordClient({ onRecorded, ...target }: RecordClientOptions): RecordClient {
  const storage = openStorage(`assent.${target.domain}.`);
  const queue = openStorage(`assent.${target.domain}.queue.`);
  /** ids of requests in flight */
  const sending = new Set<string>();
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const drop = (id: string, reason: string) => {
    queue.remove(id);
    console.warn(`assent: record ${id} dropped: ${reason}`);
  };

  /** Milliseconds left of a `Retry-After`, which an earlier page may have received. */
  const remainingWait = () => {
    const wait = Number(storage.get(waitName)) - Date.now();
    return wait <= longestRetryAfter ? Math.max(wait, 0) : 0;
  };

  const retryNow = () => {
    clearTimeout(timer);
    timer = undefined;
    void flush();
  };
  const later = (wait: number) => {
    // jitter, so that browsers do not all retry at the same moment
    timer ??= setTimeout(retryNow, wait * (1 + Math.random() / 2));
  };

  /** Whether the next record may be sent. */
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
    if (wait) storage.set(waitName, String(Date.now() + Math.min(wait, longestRetryAfter)));
    // of several simultaneous failures only the first counts
    if (timer === undefined) later(Math.min(firstWait * 2 ** failures++, longestWait));
    return false;
  }

  /** Corrects the record's time. Tabs take turns, so that two of them give it the same id: the first one's. */
  async function correct(id: string, sent: string, serverTime: number): Promise<boolean> {
    const report = JSON.parse(sent);
    const time = report.id === id ? redate(timeOf(id), Date.now(), serverTime) : undefined;
    if (time === undefined) {
      drop(id, 'its time is not within the last 30 days');
      return true;
    }
    return exclusively(async () => {
      await new Promise((resolve) => setTimeout(resolve, settling));
      if (queue.get(id) === sent) queue.set(id, JSON.stringify({ ...report, id: withTime(id, time) }));
      return deliver(id);
    });
  }

  const exclusively = (work: () => Promise<boolean>): Promise<boolean> =>
    navigator.locks ? navigator.locks.request(`assent.${target.domain}`, work) : work();

  async function flush(): Promise<void> {
    const wait = remainingWait();
    if (wait > 0) return later(wait);
    // oldest first: ids begin with their time
    for (const id of queue.names().sort()) if (!(await deliver(id))) return;
  }

  addEventListener('online', () => {
    failures = 0;
    retryNow();
  });
  void flush();

  return {
    record: (report) => {
      const id = makeId(Date.now());
      const waiting = queue.names().sort();
      for (const oldest of waiting.slice(0, Math.max(0, waiting.length - capacity + 1)))
        drop(oldest, 'the queue is full');
      queue.set(id, JSON.stringify({ ...report, id }));
      if (remainingWait() > 0) void flush();
      // a success here means that the others can be sent too
      else void deliver(id).then((went) => void (went && flush()));
      return id;
    },
    flush,
  };
}
