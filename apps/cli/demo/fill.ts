/**
 * Puts made records on the way that the API's take: the same jobs in the same queue, which a worker stores and counts.
 * Only so much is under way at a time, and what counts as stored is what Postgres says.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewRecord } from '#libs/contract/record';

/** records in one job */
const jobSize = 250;
/** records that may be under way: visitors who decide meanwhile wait behind them in the queue */
const maxUnderWay = 10_000;
/** Milliseconds between two looks. */
const lookEvery = 25;
/** Milliseconds without anything stored, after which it is given up. */
const patience = 60_000;
const patienceAfterStop = 15_000;

export interface Path {
  /** Resolves once the job is in Redis; rejects where it may or may not be. */
  add(records: NewRecord[]): Promise<void>;
  findStored(records: NewRecord[]): Promise<Set<string>>;
}

/** Records that belong together in time, and how far one has come with them. */
export interface Portion {
  records: NewRecord[];
  /** `YYYY-MM-DD` */
  date: string;
  /** 0 to 1 */
  done: number;
}

export interface Progress {
  date: string;
  done: number;
  /** records stored by this run */
  added: number;
  /** records that were there before */
  present: number;
}

/** Ends when every record that it sent is stored, also after `stop`: then later portions were not begun. */
export async function send(
  portions: Iterable<Portion>,
  path: Path,
  options: { stop: AbortSignal; onProgress: (progress: Progress) => void },
): Promise<Progress> {
  const { stop, onProgress } = options;
  const progress: Progress = { date: '', done: 0, added: 0, present: 0 };
  const underWay: Portion[] = [];
  let waiting = 0;

  const finishOldest = async () => {
    const [oldest] = underWay;
    if (!oldest) return;
    await untilStored(oldest.records, path, stop);
    underWay.shift();
    waiting -= oldest.records.length;
    progress.added += oldest.records.length;
    tell(oldest);
  };
  const tell = ({ date, done }: Portion) => onProgress(Object.assign(progress, { date, done }));

  let last: Portion | undefined;
  for (const portion of jobsOf(portions)) {
    if (stop.aborted) break;
    last = portion;
    const stored = await path.findStored(portion.records);
    const missing = portion.records.filter(({ id }) => !stored.has(id));
    progress.present += stored.size;
    if (missing.length > 0) {
      await addPatiently(missing, path, stop);
      underWay.push({ ...portion, records: missing });
      waiting += missing.length;
    } else if (underWay.length === 0) {
      tell(portion);
    }
    while (waiting > maxUnderWay) await finishOldest();
  }
  while (underWay.length > 0) await finishOldest();
  if (last) tell(last);
  return progress;
}

/** Days are too small for a job, or too large. */
function* jobsOf(portions: Iterable<Portion>): Generator<Portion> {
  let gathered: NewRecord[] = [];
  let last: Portion | undefined;
  for (const portion of portions) {
    gathered = gathered.concat(portion.records);
    last = portion;
    while (gathered.length >= jobSize) {
      yield { ...portion, records: gathered.slice(0, jobSize) };
      gathered = gathered.slice(jobSize);
    }
  }
  if (last) yield { ...last, records: gathered };
}

/** An `add` that failed may have landed; a record is stored once however often it comes. */
async function addPatiently(records: NewRecord[], path: Path, stop: AbortSignal): Promise<void> {
  const end = performance.now() + patience;
  for (;;) {
    try {
      return await path.add(records);
    } catch (error) {
      if (stop.aborted || performance.now() > end) throw new Error(`Redis does not take records: ${messageOf(error)}`);
      await sleep(200);
    }
  }
}

async function untilStored(records: NewRecord[], path: Path, stop: AbortSignal): Promise<void> {
  let found = -1;
  let end = 0;
  for (;;) {
    const stored = await path.findStored(records);
    if (stored.size === records.length) return;
    const now = performance.now();
    if (stored.size > found) end = now + patience;
    found = stored.size;
    if (now > (stop.aborted ? end - patience + patienceAfterStop : end)) {
      throw new Error('the worker stores nothing; see: assent queue status, assent records rejected');
    }
    await sleep(lookEvery);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
