/** The service's client, for servers, browsers and edge runtimes: the entry of `@assent/client`. */
import { makeIdAt } from '#libs/base/terms/calendar';
import { AssentError } from './assent-error.ts';
import type {
  CurrentOfMany,
  DomainStats,
  Feed,
  FullRecord,
  Receipt,
  RecordBody,
  RecordsPage,
  StatsQuery,
} from './contract.ts';
import type { Proof } from './proof.ts';
import { expectJson, type Query, readJson, sendWithRetries, streamOf, withQuery } from './request.ts';
import { verifyWebhook } from './webhook.ts';

export type { Proof } from './proof.ts';
export type { SealedEntry, WebhookHeaders, WebhookMessage } from './webhook.ts';
export type { CurrentOfMany, DomainStats, FullRecord, Receipt, RecordBody, StatsQuery };
export { AssentError };

export interface AssentOptions {
  /** the address of the service, with its path if it has one: `https://consent.example.com` */
  url: string;
  /** an access token, or a function that returns the current one. A secret: never in a page */
  token?: string | (() => string | Promise<string>) | undefined;
  /** the default domain of calls */
  domainId?: string | undefined;
  /** the domain's API key, which `record` sends */
  key?: string | undefined;
  /** milliseconds for a call with all its retries; default 30,000. For `export` it ends when the file begins to arrive */
  timeout?: number | undefined;
  /** retries of a call, at most; default 4 */
  retries?: number | undefined;
  /** sends the requests; default the global `fetch` */
  fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** aborts the call, which then rejects with the signal's reason */
  signal?: AbortSignal | undefined;
  /** instead of the client's own */
  domainId?: string | undefined;
  timeout?: number | undefined;
  /** sent with the request, such as the visitor's `user-agent` */
  headers?: Record<string, string | undefined> | undefined;
}

export interface RecordsFilter {
  decision?: RecordBody['decision'] | undefined;
  /** first UTC day, inclusive: `2026-01-31` */
  from?: string | undefined;
  /** last UTC day, inclusive */
  to?: string | undefined;
  visitorId?: string | undefined;
  /** true: only records from crawlers and other programs; false: none of these */
  bot?: boolean | undefined;
}

export interface ExportQuery extends RecordsFilter {
  /** default `ndjson` */
  format?: 'ndjson' | 'csv' | undefined;
  /** continues after the record with this id */
  after?: string | undefined;
}

export interface FeedQuery {
  /** the first position that you want; default 0 */
  from?: number | undefined;
  /** the number of the log to which it belongs; default the newest */
  log?: number | undefined;
}

export type FeedEntry = Feed['entries'][number] & {
  /** the number of the log that holds this entry. To continue after it later, pass this `log` and `from: position + 1` */
  log: number;
};

/**
 * Calls fail with an `AssentError`, or with your signal's reason if you abort them. Transient errors are retried, at most
 * `retries` times and within `timeout`; `Retry-After` is respected.
 */
export class Assent {
  readonly webhook: { verify: typeof verifyWebhook } = { verify: verifyWebhook };
  readonly proof: { verify(file: string | Uint8Array, keys: string): Promise<Proof> } = {
    verify: async (...given) => (await import('./proof.ts')).verifyProof(...given),
  };
  readonly #options: AssentOptions;

  constructor(options: AssentOptions) {
    if (!/^https?:\/\/[^/]/.test(options?.url ?? ''))
      throw invalid('`url` must be the http(s) address of the service.');
    this.#options = options;
  }

  /**
   * Records a decision, once: every retry has the same id, which you may choose (a UUIDv7 of the time of the decision).
   * If it fails, the error's `recordId` is that id. Needs `key`.
   */
  async record(decision: RecordBody, options: CallOptions = {}): Promise<Receipt> {
    const { key } = this.#options;
    if (!key) throw invalid('`record` needs `key`, an API key of the domain.');
    const body = JSON.stringify({ ...decision, id: decision.id ?? makeIdAt(Date.now()) });
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    try {
      return await this.#send('record', { method: 'POST', body, headers }, options, jsonOf<Receipt>);
    } catch (error) {
      if (!(error instanceof AssentError)) throw error;
      const { id: recordId } = JSON.parse(body);
      throw new AssentError(error.code, error.message, { ...error, recordId, cause: error.cause });
    }
  }

  /** The domain's statistics over UTC days, both inclusive. Needs `token`. */
  stats(query: StatsQuery, options?: CallOptions): Promise<DomainStats> {
    return this.#read('stats', query, options, jsonOf<DomainStats>);
  }

  /**
   * What each visitor allows now, so that you know whether you may send an event about them. At most 200 ids; the results
   * are in their order. Needs a `token` with the scope `current`. If it fails, use the last result until its `validUntil`,
   * or send nothing.
   */
  current(visitorIds: string[], options?: CallOptions): Promise<CurrentOfMany> {
    const sent = {
      method: 'POST',
      body: JSON.stringify({ visitorIds }),
      headers: { 'content-type': 'application/json' },
    };
    return this.#read('current', {}, options, jsonOf<CurrentOfMany>, sent);
  }

  /**
   * All matching records, newest first. Needs `token`. Once the organization has reached its monthly limit, the service
   * shows ten records: after these, it throws an error with the code `capped`.
   */
  async *records(filter: RecordsFilter = {}, options?: CallOptions): AsyncGenerator<FullRecord, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#read('records', { ...filter, limit: 200, cursor }, options, jsonOf<RecordsPage>);
      yield* page.records;
      if (page.cap)
        throw new AssentError('capped', `Only the newest ${page.limit} records are shown until ${page.cap.resetsAt}.`);
      cursor = page.nextCursor;
    }
  }

  /** The entries of the sealed log in order, up to its current end. Needs `token`. */
  async *feed({ from = 0, log }: FeedQuery = {}, options?: CallOptions): AsyncGenerator<FeedEntry, void, undefined> {
    for (let [next, number, isOver] = [from, log, false]; !isOver; ) {
      const page = await this.#read('feed', { from: next, log: number }, options, jsonOf<Feed>);
      for (const entry of page.entries) yield { ...entry, log: page.log };
      isOver = page.next >= page.size;
      [next, number] = [page.next, page.log];
    }
  }

  /**
   * All matching records as a file, oldest first. Needs `token`. A file that is cut off ends with an error; NDJSON is
   * complete if its last line is `{"end":true,"count":N}`.
   */
  export(query: ExportQuery = {}, options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#read('export', { ...query }, options, async ({ body }) => streamOf(body, options.signal));
  }

  async #read<T>(
    path: string,
    query: Query,
    options: CallOptions = {},
    as: (response: Response) => Promise<T>,
    { headers, ...sent }: { headers?: Record<string, string>; method?: string; body?: string } = {},
  ) {
    const { token } = this.#options;
    if (!token) throw invalid('Reading needs `token`, an access token.');
    const authorization = `Bearer ${typeof token === 'function' ? await token() : token}`;
    return this.#send(withQuery(path, query), { ...sent, headers: { ...headers, authorization } }, options, as);
  }

  async #send<T>(
    path: string,
    { headers, ...sent }: { headers: Record<string, string>; method?: string; body?: string },
    options: CallOptions,
    as: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { url, fetch, retries = 4 } = this.#options;
    const { domainId = this.#options.domainId, timeout = this.#options.timeout ?? 30_000, signal } = options;
    if (!domainId) throw invalid('Set `domainId`, for the client or for the call.');
    return sendWithRetries(
      `${url.replace(/\/+$/, '')}/v1/consent/${encodeURIComponent(domainId)}/${path}`,
      { ...sent, headers: { ...options.headers, ...headers } },
      { fetch, retries, timeout, caller: signal },
      as,
    );
  }
}

const jsonOf = async <Body>(response: Response): Promise<Body> => readJson(await expectJson(response));
const invalid = (message: string) => new AssentError('invalid_options', message);
