/** `@assent/client` against the service, and against what stands before one: doors, proxies and other people's servers. */
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { dayOf, makeIdAt } from '#libs/base/terms/calendar';
import { Assent, type AssentOptions } from '#libs/client/assent';
import { AssentError } from '#libs/client/assent-error';
import { persist } from '#libs/record/persist/persist';
import { tokenFor } from '../support/client.ts';
import { openGate } from '../support/gate.ts';
import { listen } from '../support/listen.ts';
import { createLogReader } from '../support/log-reader.ts';
import { recordAt } from '../support/records.ts';
import { at, startStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const stack = await startStack({ sealed: true, tenant: { domains: 3 } });
const gate = await openGate(stack.api.baseUrl);
const { domainId, apiKey: key } = stack;
const token = tokenFor(stack.tenant.organizationId, { scope: 'read current' });
const connect = (options: Partial<AssentOptions> = {}) =>
  new Assent({ url: gate.url, domainId, key, token, ...options });
const assent = connect();
const today = dayOf(Date.now());

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};
/** Another server than ours, which counts what it is asked. */
async function startOther(handle: RequestListener) {
  const asked: string[] = [];
  const port = await listen(
    createServer((request, response) => {
      asked.push(request.url ?? '');
      handle(request, response);
    }),
  );
  return { asked, url: `http://127.0.0.1:${port}` };
}
const failure = async (work: Promise<unknown>): Promise<AssentError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof AssentError ? error : expect.fail(`no AssentError: ${error}`);
};

describe('a decision', () => {
  it('is recorded, and is in the statistics, the records, the feed and the export, and proven', async () => {
    const ownDomain = at(stack.tenant.domainIds, 1);
    const own = connect({ domainId: ownDomain, key: at(stack.tenant.apiKeys, 1), token: async () => token });
    const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0' };
    const preferences = { analytics: true, marketing: false };
    const receipt = await own.record({ decision: 'custom', preferences, visitorId: 'v-1' }, { headers: browser });
    const { id } = receipt;
    expect(receipt).toMatchObject({ status: 'queued', id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    await eventually(async () =>
      expect(await own.stats({ from: today, to: today })).toMatchObject({ total: 1, breakdown: { custom: 1 } }),
    );
    const { asOf, current } = await own.current(['v-1', 'v-2']);
    expect([asOf, current.map((each) => each.preferences)]).toEqual([expect.any(String), [preferences, {}]]);
    const entry = await eventually(async () => at(await all(own.feed()), 0));
    expect(entry).toMatchObject({ log: 1, position: 0, type: 'record', record: { id, preferences } });
    expect(await all(own.feed({ log: entry.log, from: entry.position + 1 }))).toEqual([]);
    const [record] = await all(own.records({ from: today, decision: 'custom', bot: false }));
    expect(record).toMatchObject({ id, domainId: ownDomain, userAgent: browser['user-agent'] });
    const log = createLogReader(stack.api.baseUrl, stack.tenant.organizationId, ownDomain);
    const { text: bundle } = await log.ok(`records/${id}/proof`, 'application/json');
    const { text: keys } = await log.ok('log/key');
    expect(await own.proof.verify(bundle, keys)).toMatchObject({
      holds: true,
      log: `consent.example.com/${ownDomain}`,
      position: 0,
      type: 'record',
      fields: { id, decision: 'custom', preferences, userAgent: browser['user-agent'] },
      unproven: [],
    });
    const { text: file } = await log.ok(`records/${id}/proof`, 'text/plain');
    expect(await own.proof.verify(Buffer.from(file), keys)).toMatchObject({ holds: true, fields: { id } });
    const changed = await own.proof.verify(bundle.replace(`"analytics":true`, `"analytics":false`), keys);
    expect(changed).toEqual({ holds: false, why: expect.stringContaining('preferences') });
    expect(await failure(own.proof.verify(keys, keys))).toMatchObject({ code: 'not_a_proof' });
    expect(await failure(own.proof.verify(bundle, 'a key'))).toMatchObject({ code: 'invalid_options' });
    const lines = (await text(await own.export({ format: 'ndjson' }))).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([record, { end: true, count: 1 }]);
  });

  it('is one record, if the answer to the first attempt is lost', async () => {
    const ids = async () => (await all(direct.records())).map(({ id }) => id);
    const direct = connect({ url: stack.api.baseUrl });
    gate.loseAnswers();
    const recording = assent.record({ decision: 'accept_all' });
    await eventually(async () => expect(await ids()).toHaveLength(1));
    // ends the connection, and the next attempt gets through
    gate.shut();
    gate.open();
    const { id } = await recording;
    expect(await ids()).toEqual([id]);
  });

  it('has an id to send it again with, if the service is away', async () => {
    gate.shut();
    const error = await failure(connect({ retries: 1 }).record({ decision: 'withdraw' }));
    expect(error).toMatchObject({ name: 'AssentError', code: 'unreachable', status: undefined, isTransient: true });
    gate.open();
    const again = { decision: 'withdraw', id: error.recordId } as const;
    const [{ id }] = await Promise.all([assent.record(again), assent.record(again)]);
    expect(id).toBe(error.recordId);
    await eventually(async () => {
      const withdrawn = await all(assent.records({ decision: 'withdraw' }));
      expect(withdrawn.map((each) => each.id)).toEqual([id]);
    });
  });

  it('is recorded over a new connection, if the one that was kept was closed meanwhile', async () => {
    const { id } = await assent.record({ decision: 'accept_all' });
    gate.shut();
    gate.open();
    expect((await connect({ retries: 1 }).record({ decision: 'accept_all', id })).id).toBe(id);
  });
});

describe('reading', () => {
  it('gives every record once, over as many pages as there are', async () => {
    const own = at(stack.tenant.domainIds, 2);
    const now = Date.now();
    const records = Array.from({ length: 1_100 }, (_, each) => recordAt(now - each * 7, { domainId: own }));
    await persist(stack.db, records, { owe: true });
    const found = await all(assent.records({}, { domainId: own }));
    expect(found.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
    await eventually(async () => {
      const entries = await all(assent.feed({}, { domainId: own }));
      expect(entries.map(({ position }) => position)).toEqual(Array.from(records.keys()));
    });
  });

  it('says that records are missing, once the monthly limit is reached', async () => {
    const tenant = await makeTenant(stack.db, { monthlyRecordLimit: 11 });
    const capped = connect({ domainId: at(tenant.domainIds, 0), token: tokenFor(tenant.organizationId) });
    const records = Array.from({ length: 12 }, (_, each) =>
      recordAt(Date.now() + each, { domainId: at(tenant.domainIds, 0) }),
    );
    await persist(stack.db, records, { owe: true });
    await eventually(async () => {
      const shown: string[] = [];
      const reading = (async () => {
        for await (const { id } of capped.records()) shown.push(id);
      })();
      expect(await failure(reading)).toMatchObject({ code: 'capped', isTransient: false });
      expect(shown).toHaveLength(10);
    });
  });

  it('of another domain, or without what it needs, says so', async () => {
    const period = { from: today, to: today };
    const unknown = { domainId: 'dom_unknown' };
    expect(await failure(assent.stats(period, unknown))).toMatchObject({
      code: 'domain_not_found',
      status: 404,
      requestId: expect.stringMatching(/./),
    });
    expect(await failure(assent.record({ decision: 'custom', preferences: {} }, unknown))).toMatchObject({
      code: 'invalid_api_key',
      status: 401,
    });
    expect(await failure(assent.stats({ from: '2026-02-30', to: today }))).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: '/from', in: 'query' }],
    });
    expect(() => new Assent({ url: 'consent.example.com' })).toThrow(AssentError);
    for (const [options, part] of [
      [{ domainId: undefined }, 'domainId'],
      [{ token: undefined }, 'token'],
      [{ token: 'a\u2026b' }, 'authorization'],
    ] as const) {
      const error = await failure(connect(options).stats(period));
      expect([error.code, error.message]).toEqual(['invalid_options', expect.stringContaining(part)]);
    }
    expect(await failure(connect({ key: undefined }).record({ decision: 'accept_all' }))).toMatchObject({
      code: 'invalid_options',
    });
  });
});

describe('a call', () => {
  it('waits as long as it is asked to, and tries again', async () => {
    const other = await startOther((_, response) => {
      if (other.asked.length === 1) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{"total":3}');
    });
    expect(await connect({ url: other.url }).stats({ from: today, to: today })).toEqual({ total: 3 });
    expect(other.asked).toHaveLength(2);
  });

  it('fails at once, if it is asked to wait longer than it may take', async () => {
    const other = await startOther((_, response) => void response.writeHead(503, { 'retry-after': '3600' }).end());
    const error = await failure(connect({ url: other.url }).record({ decision: 'accept_all' }));
    expect(error).toMatchObject({ code: 'unexpected_response', status: 503, retryAfter: 3_600_000 });
    expect(other.asked).toHaveLength(1);
  });

  it('does not try again what will not help', async () => {
    const other = await startOther((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to the network</h1>');
    });
    const error = await failure(connect({ url: `${other.url}/below/` }).stats({ from: today, to: today }));
    expect(error).toMatchObject({ code: 'unexpected_response', status: 200 });
    expect(other.asked).toEqual([`/below/v1/consent/${domainId}/stats?from=${today}&to=${today}`]);
  });

  it('ends with its time, or with its signal, if there is no answer', async () => {
    const other = await startOther(() => {});
    const silent = connect({ url: other.url });
    const late = await failure(silent.stats({ from: today, to: today }, { timeout: 50 }));
    expect(late).toMatchObject({ code: 'timeout', status: undefined });
    const abort = new AbortController();
    const reading = silent.stats({ from: today, to: today }, { signal: abort.signal });
    await eventually(() => expect(other.asked).toHaveLength(2));
    abort.abort(new Error('the visitor left'));
    await expect(reading).rejects.toThrow('the visitor left');
    await expect(silent.stats({ from: today, to: today }, { signal: abort.signal })).rejects.toThrow(
      'the visitor left',
    );
    expect(other.asked).toHaveLength(2);
  });
});

describe('an export', () => {
  const line = `${JSON.stringify({ id: makeIdAt(Date.now()) })}\n`;
  const startUnfinished = (after: (end: () => void) => void) =>
    startOther((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(line, () => after(() => response.destroy()));
    });

  it('that is cut off ends with an error, after what has come', async () => {
    let cut = () => {};
    const { url } = await startUnfinished((end) => {
      cut = end;
    });
    const reader = (await connect({ url }).export()).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(line);
    const next = reader.read();
    cut();
    expect(await failure(next)).toMatchObject({ code: 'unreachable' });
  });

  it('has no time limit once it has begun, and ends with its signal', async () => {
    const { url } = await startUnfinished(() => {});
    const abort = new AbortController();
    const reader = (await connect({ url }).export({}, { signal: abort.signal, timeout: 5_000 })).getReader();
    await reader.read();
    const next = reader.read();
    abort.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });
});
