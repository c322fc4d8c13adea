/**
 * Sends decisions to the service. Each one is stored in the browser until the service has it, across pages and days. Its
 * id is created with the decision, so that retries do not duplicate it.
 */
import type { Receipt, RecordBody } from '#libs/record/contract';
import { attempt } from './attempt.ts';
import { waitAfter, withJitter } from './backoff.ts';
import { hashNotice, type Shown } from './hash-notice.ts';
import { accepted, redate } from './redate.ts';
import { ask, send, type Target } from './send.ts';
import { openStorage } from './storage.ts';
import { makeId, timeOf, withTime } from './uuid.ts';
import { openWaits } from './waits.ts';

export type { Receipt };

/** A decision; the client adds the id, and the notice that is shown. */
export type Report = Omit<RecordBody, 'id' | 'notice'>;

interface RecordClientOptions extends Target {
  /** The record is stored. `id` is what `record` returned; the receipt's id differs where a clock was corrected. */
  onRecorded?: (receipt: Receipt, id: string) => void;
}

export interface RecordClient {
  /** Stores and sends the decision. Returns the record's id. */
  record(report: Report): string;
  /**
   * What the visitor is being shown: any JSON object of at most 16 KiB. Records name it by its hash from then on, except
   * those with the source `api`. The object itself is sent where the service does not have it yet.
   */
  show(notice: object): void;
  /** Sends all waiting records. */
  flush(): void;
}

/** Most records that may wait. Beyond that, the oldest is dropped. */
const capacity = 50;
/** Milliseconds until other tabs see what one tab has stored. */
const settling = 100;
const tooOld = 'its time is not within the last 30 days';

export function createRecordClient({ onRecorded, ...target }: RecordClientOptions): RecordClient {
  const queue = openStorage(`assent.${target.domain}.queue.`);
  const waits = openWaits(target);
  /** ids of requests in flight */
  const sending = new Set<string>();
  let shown: Shown | undefined;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const drop = (id: string, reason: string) => {
    queue.remove(id);
    console.warn(`assent: record ${id} dropped: ${reason}`);
  };

  const stopWaiting = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const retryNow = () => {
    stopWaiting();
    void flush();
  };
  const later = (wait: number) => {
    timer ??= setTimeout(retryNow, withJitter(wait));
  };

  /** Whether the next record may be sent. */
  async function deliver(id: string): Promise<boolean> {
    const kept = queue.get(id);
    if (kept === null || sending.has(id)) return true;
    sending.add(id);
    // what was shown waits with the record. Other scripts may have written something else there
    const { document, ...body } = attempt(() => JSON.parse(kept)) ?? {};
    const outcome = await send(target, JSON.stringify(body));
    sending.delete(id);
    if ('wait' in outcome) return retry(outcome.wait);
    failures = 0;
    if ('refused' in outcome) return waitForKey(outcome.refused);
    if ('serverTime' in outcome) return correct(id, kept, outcome.serverTime);
    if ('reason' in outcome) drop(id, outcome.reason);
    else {
      queue.remove(id);
      // if this fails, the receipt of a later decision wants it again
      if (outcome.receipt.notice) ask(target, 'PUT', `notices/${body.notice}`, document).catch(() => {});
      waits.forgetRefusals();
      stopWaiting();
      onRecorded?.(outcome.receipt, id);
    }
    return true;
  }

  function retry(wait: number): false {
    if (wait) waits.respect(wait);
    // of several simultaneous failures only the first counts
    if (timer === undefined) later(waitAfter(failures++));
    return false;
  }

  /** Keeps all records until the service accepts the key again, or a page has another one. */
  function waitForKey(refused: string): false {
    console.warn(`assent: ${refused}. Decisions wait in the browser`);
    waits.noteRefusal();
    for (const id of queue.names()) if (timeOf(id) < Date.now() - accepted) drop(id, tooOld);
    later(waits.refusal());
    return false;
  }

  /** Corrects the record's time. Tabs take turns, so that two of them give it the same id: the first one's. */
  async function correct(id: string, kept: string, serverTime: number): Promise<boolean> {
    const report = JSON.parse(kept);
    const time = report.id === id ? redate(timeOf(id), Date.now(), serverTime) : undefined;
    if (time === undefined) {
      drop(id, tooOld);
      return true;
    }
    return exclusively(async () => {
      await new Promise((resolve) => setTimeout(resolve, settling));
      if (queue.get(id) === kept) queue.set(id, JSON.stringify({ ...report, id: withTime(id, time) }));
      return deliver(id);
    });
  }

  const exclusively = (work: () => Promise<boolean>): Promise<boolean> =>
    navigator.locks ? navigator.locks.request(`assent.${target.domain}`, work) : work();

  async function flush(): Promise<void> {
    const wait = Math.max(waits.retryAfter(), waits.refusal());
    if (wait) return later(wait);
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
      const named = report.source !== 'api' && shown?.hash && { notice: shown.hash, document: shown.text };
      queue.set(id, JSON.stringify({ ...report, id, ...named }));
      if (waits.retryAfter()) void flush();
      // although the key may be refused: the visitor may not come again. A success means that the others can be sent too
      else void deliver(id).then((went) => void (went && flush()));
      return id;
    },
    show: (notice) => {
      shown = hashNotice(notice);
    },
    flush,
  };
}
