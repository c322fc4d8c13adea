/**
 * Sends decisions to the service. Each one is stored in the browser until the service has it, across pages and days. Its
 * id is created with the decision, so that retries do not duplicate it.
 */
import type { Receipt, RecordBody } from '#libs/record/contract';
import { attempt, warn } from '#libs/widget/attempt';
import { map, min, now, own, slice } from '#libs/widget/tamper-proof';
import { waitAfter, withJitter } from './backoff.ts';
import { hash, type Shown } from './hash-notice.ts';
import { json } from './json.ts';
import { openPauses } from './pauses.ts';
import { quietly, send, type Target } from './send.ts';
import { openStorage } from './storage.ts';
import { makeId, timeOf, withTime } from './uuid.ts';

/** A decision; the client adds the id and the notice. */
export type Report = Omit<RecordBody, 'id' | 'notice'>;

interface RecordClientOptions extends Target {
  /** The record is stored. `id` is what `record` returned; the receipt's id differs where a clock was corrected. */
  onRecorded?: (receipt: Receipt, id: string) => void;
}

export interface RecordClient {
  /**
   * Stores and sends the decision. Returns the record's id, by default a new one. `about`: the notice that the visitor
   * decided in, by default the last one that was shown.
   */
  record(report: Report, id?: string, about?: Shown): string;
  /**
   * Call it with what the visitor is shown: any JSON object of at most 16 KiB. Later records have its hash, except those
   * with the source `api`. The object itself is sent if the service does not have it yet.
   */
  show(notice: object): Shown;
  /** Sends all waiting records. */
  flush(): void;
}

/** Most records that may wait. Beyond that, the oldest is dropped. */
const capacity = 50;
/** Milliseconds until other tabs see what one tab has stored. */
const settling = 100;
/** Milliseconds by which a correct clock may differ. */
const tolerance = 5 * 60_000;
/** Milliseconds that a record may take to arrive. */
const accepted = 30 * 24 * 3_600_000;
/** A line end, and a SHA-256 in hex. */
const hashLength = 65;
const tooOld = 'its time is out of range';

export function createRecordClient({ onRecorded, ...target }: RecordClientOptions): RecordClient {
  const queue = openStorage(`assent.${target.domain}.queue.`);
  const pauses = openPauses(target);
  /** ids of requests in flight */
  const sending = own<boolean>();
  let shown: Shown | undefined;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const drop = (id: string, reason: string) => {
    queue.remove(id);
    warn(`record ${id} dropped: ${reason}`);
  };

  const stopWaiting = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const retryNow = () => {
    stopWaiting();
    void flush();
  };
  const onOnline = () => {
    failures = 0;
    retryNow();
  };
  const later = (wait: number) => {
    timer ??= setTimeout(retryNow, withJitter(wait));
    // each time, since `document.open` removes the listener
    addEventListener('online', onOnline);
  };

  /** Resolves to whether the next record may be sent. */
  async function deliver(id: string): Promise<boolean> {
    const stored = queue.get(id);
    if (stored === null || sending[id]) return true;
    sending[id] = true;
    let end = 0;
    while (stored[end] && stored[end] !== '\n') end += 1;
    const outcome = await send(target, slice(stored, 0, end));
    delete sending[id];
    if ('wait' in outcome) return retry(outcome.wait);
    failures = 0;
    if ('refused' in outcome) return waitForKey(outcome.refused);
    if ('serverTime' in outcome) return correct(id, stored, outcome.serverTime);
    if ('reason' in outcome) drop(id, outcome.reason);
    else {
      queue.remove(id);
      // if this fails, the receipt of a later decision asks for the notice again
      if (outcome.receipt.notice)
        void quietly(
          target,
          'PUT',
          `notices/${slice(stored, end + 1, end + hashLength)}`,
          slice(stored, end + hashLength),
        );
      pauses.forgetRefusals();
      stopWaiting();
      attempt(() => onRecorded?.(outcome.receipt, id));
    }
    return true;
  }

  function retry(wait: number): false {
    if (wait > 0) pauses.respect(wait);
    // of several simultaneous failures only the first counts
    if (timer === undefined) later(waitAfter(failures++));
    return false;
  }

  /** All records wait until the service accepts the key again, or a page has another key. */
  function waitForKey(refused: string): false {
    warn(`${refused}. Decisions wait in the browser`);
    pauses.noteRefusal();
    map(queue.names(), (id) => {
      if (timeOf(id) < now() - accepted) drop(id, tooOld);
    });
    later(pauses.refusal());
    return false;
  }

  /**
   * Corrects the record's time. Tabs take turns under a lock, so that only the first makes a corrected id and the others
   * send that one.
   */
  async function correct(id: string, stored: string, serverTime: number): Promise<boolean> {
    let at = 0;
    while (at < stored.length && slice(stored, at, at + id.length) !== id) at += 1;
    // other scripts may have overwritten the record
    const time = stored[at] ? correctedTime(timeOf(id), serverTime) : undefined;
    if (time === undefined) {
      drop(id, tooOld);
      return true;
    }
    return exclusively(async () => {
      await new Promise((resolve) => setTimeout(resolve, settling));
      if (queue.get(id) === stored)
        queue.set(id, slice(stored, 0, at) + withTime(id, time) + slice(stored, at + id.length));
      return deliver(id);
    });
  }

  const exclusively = async (work: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await navigator.locks.request(`assent.${target.domain}`, work);
    } catch {
      // the browser has no locks, or blocks them like storage
      return work();
    }
  };

  async function flush(): Promise<void> {
    const wait = pauses.retryAfter() || pauses.refusal();
    if (wait) return later(wait);
    for (let id = oldest(queue.names(), ''); id; id = oldest(queue.names(), id)) if (!(await deliver(id))) return;
    // A record still in the queue was being sent by another call when this loop passed it. If that failed meanwhile, a
    // later record's success may have cleared its retry timer (`stopWaiting`), so set one.
    if (queue.names()[0]) later(waitAfter(0));
  }

  /** Sends the record even while the key is refused, since the visitor may not return. A success sends the others, too. */
  async function deliverFirst(id: string): Promise<void> {
    if (await deliver(id)) await flush();
  }

  void flush();

  return {
    record: (report, id = makeId(now()), about = shown) => {
      for (let over = queue.names().length - capacity; over >= 0; over -= 1)
        drop(oldest(queue.names(), '') ?? '', 'the queue is full');
      queue.set(id, pack({ ...report, id }, report.source === 'api' ? undefined : about));
      if (pauses.retryAfter()) void flush();
      else void deliverFirst(id);
      return id;
    },
    show: (notice) => {
      shown = { text: json(notice) };
      void hash(shown);
      return shown;
    },
    flush,
  };
}

/**
 * The time of a record that the service rejected as out of range; all in Unix milliseconds. If the device's clock is wrong,
 * the time is shifted by the clock's difference from the service's. Undefined if the record is older than the service
 * accepts, even after the correction.
 */
function correctedTime(decidedAt: number, serverTime: number): number | undefined {
  const error = serverTime - now();
  const corrected = error > tolerance || error < -tolerance ? decidedAt + error : decidedAt;
  // a decision in the future means that the clock was ahead and has been set since
  const time = min(corrected, serverTime);
  return time >= serverTime - accepted ? time : undefined;
}

/** A stored record is its body; a second line has the notice's hash and text. */
function pack(report: Report & { id: string }, { hash: notice, text }: Partial<Shown> = {}): string {
  return `${json(own<unknown>({ ...report, ...(notice && { notice }) }))}${notice ? `\n${notice}${text}` : ''}`;
}

/** The first id after another: ids begin with their time. */
function oldest(ids: string[], after: string): string | undefined {
  let found: string | undefined;
  map(ids, (id) => {
    if (id > after && !(found && found < id)) found = id;
  });
  return found;
}
