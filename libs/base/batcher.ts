/**
 * Group commit: items that arrive while a run is in flight become the next run. A single item does not wait. A burst makes
 * runs larger, not more numerous, and with `linger` even fewer; the first items after a burst may still linger once.
 */
export class BatcherFull extends Error {}
export class BatcherTimeout extends Error {}

export interface BatcherOptions<Item, Result> {
  /** Handles a batch; every item of it gets this result or this error. */
  run: (items: Item[]) => Promise<Result>;
  /** An item's share of `maxBatch` and `maxPending`, in any one unit. Default 1. */
  weigh?: (item: Item) => number;
  /** A batch takes items up to this weight (one item always fits). */
  maxBatch: number;
  /** Above this weight of unsettled items, `add` rejects with BatcherFull. */
  maxPending: number;
  /** How many runs at once. Default 1. */
  concurrency?: number;
  /** Holds runs back in a burst, for runs with a high fixed cost. By default runs are never held back. */
  linger?: Linger;
  /** Milliseconds after which an item is rejected with BatcherTimeout, even if its run succeeds later. Default: never. */
  patience?: number;
}

/**
 * If a weight of at least `from` arrived within about the last `milliseconds`, the next run waits until a weight of
 * `enough` is waiting, but at most `milliseconds` in all and `gap` after the latest item.
 */
export interface Linger {
  /** weights */
  from: number;
  enough: number;
  milliseconds: number;
  /** default: `milliseconds` */
  gap?: number;
}

interface Entry<Item, Result> {
  item: Item;
  weight: number;
  expires: number;
  settled: boolean;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export class Batcher<Item, Result> {
  readonly #options: Required<BatcherOptions<Item, Result>>;
  readonly #linger: Required<Linger>;
  #waiting: Entry<Item, Result>[] = [];
  // an array: a Set that changes all the time leaves old tables behind, which keep its former members in memory
  #underWay: Entry<Item, Result>[][] = [];
  /** how many have no result yet */
  #unsettled = 0;
  #weight = 0;
  /** of `#waiting` */
  #waitingWeight = 0;
  /** For `linger`: when the current window began (`performance.now()`), the weight in it, and in the window before. */
  #since = 0;
  #lately = 0;
  #before = 0;
  #scheduled = false;
  #lingering: NodeJS.Timeout | undefined;
  /** by `performance.now()` */
  #lingersUntil = 0;
  #sweeper: NodeJS.Timeout | undefined;
  #onIdle: (() => void)[] = [];

  constructor(options: BatcherOptions<Item, Result>) {
    const never = Number.POSITIVE_INFINITY;
    const linger = { from: never, enough: 0, milliseconds: 0 };
    this.#options = { weigh: () => 1, concurrency: 1, patience: never, linger, ...options };
    const { milliseconds } = this.#options.linger;
    this.#linger = { gap: milliseconds, ...this.#options.linger };
  }

  /** `since`: from when its patience counts, by `performance.now()`. */
  add(item: Item, since = performance.now()): Promise<Result> {
    const weight = this.#options.weigh(item);
    if (this.#weight + weight > this.#options.maxPending) return Promise.reject(new BatcherFull('too much is pending'));
    return new Promise((resolve, reject) => {
      const expires = since + this.#options.patience;
      const entry = { item, weight, expires, settled: false, resolve, reject };
      this.#weight += weight;
      this.#waiting.push(entry);
      this.#waitingWeight += weight;
      this.#unsettled += 1;
      this.#schedule();
      this.#lately += weight;
      this.#watch();
    });
  }

  /** Resolves once nothing is pending. */
  idle(): Promise<void> {
    if (this.#unsettled === 0 && this.#underWay.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Starts after the current turn of the event loop, so that requests read in the same turn share a run. */
  #schedule(): void {
    const { from, enough, milliseconds, gap } = this.#linger;
    const isBusy = this.#cameLately() >= from;
    if (this.#scheduled || this.#underWay.length >= this.#options.concurrency) return;
    if (!isBusy || this.#waitingWeight >= enough) {
      this.#scheduled = true;
      clearTimeout(this.#lingering);
      this.#lingering = undefined;
      setImmediate(() => this.#start());
    } else if (!this.#lingering) {
      this.#lingersUntil = performance.now() + milliseconds;
      this.#lingering = setTimeout(() => this.#start(), Math.min(gap, milliseconds));
    } else if (performance.now() + gap < this.#lingersUntil) this.#lingering.refresh();
  }

  /** Weight within about the last `milliseconds` of `linger`. */
  #cameLately(): number {
    const now = performance.now();
    const { milliseconds } = this.#linger;
    if (now - this.#since >= milliseconds) {
      this.#before = now - this.#since < 2 * milliseconds ? this.#lately : 0;
      this.#lately = 0;
      this.#since = now;
    }
    return Math.max(this.#before, this.#lately);
  }

  #start(): void {
    this.#scheduled = false;
    this.#lingering = undefined;
    while (this.#underWay.length < this.#options.concurrency && this.#waiting.length > 0) void this.#runNext();
    this.#resolveIdle();
  }

  async #runNext(): Promise<void> {
    const batch = this.#take();
    if (batch.length === 0) return;
    this.#underWay.push(batch);
    try {
      const result = await this.#options.run(batch.map((entry) => entry.item));
      for (const entry of batch) this.#settle(entry, () => entry.resolve(result));
    } catch (error) {
      for (const entry of batch) this.#settle(entry, () => entry.reject(error));
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(batch), 1);
      if (this.#waiting.length > 0) this.#schedule();
      else this.#resolveIdle();
    }
  }

  #resolveIdle(): void {
    if (this.#underWay.length > 0 || this.#waiting.length > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #take(): Entry<Item, Result>[] {
    let weight = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      weight += entry.weight;
      if (count > 0 && weight > this.#options.maxBatch) break;
      count += 1;
    }
    const batch = this.#waiting.splice(0, count).filter((entry) => !entry.settled);
    this.#waitingWeight -= weightOf(batch);
    return batch;
  }

  #settle(entry: Entry<Item, Result>, settle: () => void): void {
    if (entry.settled) return;
    entry.settled = true;
    this.#unsettled -= 1;
    this.#weight -= entry.weight;
    settle();
  }

  /** One timer for all. */
  #watch(): void {
    if (this.#sweeper || this.#options.patience === Number.POSITIVE_INFINITY) return;
    this.#sweeper = setInterval(() => {
      const now = performance.now();
      for (const entry of [...this.#underWay.flat(), ...this.#waiting]) {
        if (entry.expires <= now) this.#settle(entry, () => entry.reject(new BatcherTimeout('no result in time')));
      }
      this.#waiting = this.#waiting.filter((entry) => !entry.settled);
      this.#waitingWeight = weightOf(this.#waiting);
      if (this.#unsettled === 0) {
        clearInterval(this.#sweeper);
        this.#sweeper = undefined;
      }
    }, 50);
  }
}

const weightOf = (entries: readonly { weight: number }[]): number =>
  entries.reduce((sum, { weight }) => sum + weight, 0);
