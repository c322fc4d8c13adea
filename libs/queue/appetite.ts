/**
 * How many jobs a worker takes at once. A statement is only as large as the jobs in hand, and many idle APIs leave jobs
 * of one record: while a backlog keeps all hands full, more such jobs are taken, up to `maxRecords` in all.
 */

/** records in hand at once, where jobs are small */
const maxRecords = 1_000;
/** milliseconds between two looks */
const lookEvery = 250;
/** how much a job counts among those before it, once jobs get smaller; when they get larger the last one counts alone */
const share = 0.05;

export interface Appetite {
  begin(records: number): void;
  end(): void;
  /** Nothing waits any more. */
  reset(): void;
  close(): void;
}

/**
 * `taker.concurrency` grows from what it is now to at most `maxRecords` by the mean job, and falls back at `reset`: to
 * shrink and grow while there is a backlog would fetch jobs one by one, which waits for the disk of Redis each time.
 */
export function createAppetite(taker: { concurrency: number }): Appetite {
  const least = taker.concurrency;
  let perJob = maxRecords / least;
  let inHand = 0;
  let peak = 0;
  const look = setInterval(() => {
    const most = Math.max(least, Math.floor(maxRecords / perJob));
    // while some are stored, the others are on their way to and from Redis
    const isFull = 2 * peak >= taker.concurrency;
    taker.concurrency = Math.min(isFull ? 2 * taker.concurrency : taker.concurrency, most);
    peak = inHand;
  }, lookEvery);
  return {
    begin: (records) => {
      perJob = Math.max(records, (1 - share) * perJob + share * records);
      inHand += 1;
      peak = Math.max(peak, inHand);
    },
    end: () => {
      inHand -= 1;
    },
    reset: () => {
      taker.concurrency = least;
    },
    close: () => clearInterval(look),
  };
}
