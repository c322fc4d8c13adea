import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Feed } from '#libs/log/contract';
import type { Erasure, ErasureDetails, ErasuresPage, Visitor } from '#libs/privacy/contract';
import type { ProofBundle } from '#libs/proof/contract';
import { utf8 } from '#libs/proof/tree/bytes';
import { parseVerifierKeys } from '#libs/proof/tree/check-file';
import { recognize } from '#libs/proof/tree/recognize';
import { parseVerifierKey } from '#libs/proof/tree/verifier-key';
import { checkVisitor, summaryOf } from '#libs/proof/tree/visitor-download';
import type { FullRecord } from '#libs/record/contract';
import { persist } from '#libs/record/persist/persist';
import { tables as ofRecord } from '#libs/record/tables';
import { createVisitorHash } from '#libs/tenants/visitors';
import { createAsk, request } from '../support/client.ts';
import { holdTheMinute } from '../support/clock.ts';
import { crypto, sha256 } from '../support/log-reader.ts';
import { expectProblem } from '../support/problems.ts';
import { verifyTlogProof } from '../support/proof-checks.ts';
import { recordAt } from '../support/records.ts';
import { privacyKey } from '../support/settings.ts';
import { at, startStack } from '../support/stack.ts';
import { makeTenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

const odd = `a/b?c#d%2F "é" 😀${'😀'.repeat(40)}`;

const stack = await startStack({ sealed: true, tenant: { domains: 2, consentLog: false } });
const [first = '', second = ''] = stack.tenant.domainIds;

describe('a visitor', () => {
  const organization = '/v1/organization';
  const domain = (domainId: string) => `/v1/consent/${domainId}`;

  // one token a scope: what is noted once a token would be noted again with that of the next second
  const iat = Math.floor(Date.now() / 1_000);
  const askAs = (scope: string) =>
    createAsk(stack.api.baseUrl, stack.tenant.organizationId, { scope, sub: 'officer', iat, exp: iat + 3_600 });
  const [ask, read] = [askAs('privacy'), askAs('read')];
  const show = (prefix: string, visitorId: string) =>
    ask<Visitor>('GET', `${prefix}/visitors/${encodeURIComponent(visitorId)}`);
  const erase = (prefix: string, visitorId: string) =>
    ask<Erasure>('DELETE', `${prefix}/visitors/${encodeURIComponent(visitorId)}`);
  const store = async (domainId: string, visitorId: string, count: number, userAgent = 'Example/1.0') => {
    const records = Array.from({ length: count }, (_, each) =>
      recordAt(Date.now() - each * 1_000, {
        domainId,
        visitorId,
        decision: each === 0 ? 'withdraw' : 'custom',
        preferences: { analytics: true },
        ip: '192.0.2.0',
        userAgent,
        pageUrl: 'https://shop.example/',
        metadata: { a: 1.5, b: 'x' },
      }),
    );
    await persist(stack.db, records, { owe: true });
    return records.map(({ id }) => id);
  };
  const counters = () => stack.sql`select * from counters order by organization_id, domain_id, period`;
  /** From now on the plan includes it; an act informs the processes. */
  const showLog = async () => {
    await stack.sql`update plans set consent_log = true`;
    await stack.sql`insert into administrative_acts (actor, act, subject) values ('t', 'plan.set', 'x')`;
  };
  const sealed = (domainId: string, ids: string[]) =>
    eventually(async () => {
      const found = await stack.sql`
        select from records r join domains on number = domain_number join logs on logs.domain_number = number
        where domains.id = ${domainId} and r.id = any(${ids}) and checkpoint_size = size
          and (last_epoch, last_id) >= (r.epoch, r.id)`;
      expect(found.count).toBe(ids.length);
    });
  /** Of which records the domain's log has an erasure. */
  const erasedInFeed = async (domainId: string) => {
    const { status, body } = await read<Feed>('GET', `${domain(domainId)}/feed`);
    expect(status).toBe(200);
    return body.entries.flatMap((entry) => (entry.type === 'erasure' ? entry.recordId : []));
  };
  /** The entry, by a proof that holds. */
  const entryOf = (proof = '', keys: string[] = []) => {
    const parsed = keys.map((key) => parseVerifierKey(sha256, key));
    const check = verifyTlogProof(utf8(proof), parsed, crypto);
    if ('why' in check) throw new Error(check.why);
    return Buffer.from(check.entry);
  };

  const ids: string[] = [];
  const toErase: string[] = [];

  beforeAll(async () => {
    ids.push(...(await store(first, odd, 20)), ...(await store(second, odd, 3)));
    toErase.push(...(await store(first, 'to erase', 4, 'Only theirs/1.0')));
    await sealed(first, [...ids.slice(0, 20), ...toErase]);
    await sealed(second, ids.slice(20));
  });

  it('is shown with all records, the newest decision of each domain, and proofs that hold', async () => {
    const { status, body } = await show(organization, odd);
    expect(status).toBe(200);
    expect(body.visitorId).toBe(odd);
    expect(body.records.map(({ id }) => id)).toEqual([...ids].sort().reverse());
    expect(body.records.every(({ visitorId }) => visitorId === odd)).toBe(true);
    expect(Object.keys(body.current).sort()).toEqual([first, second].sort());
    expect(body.current[first]).toMatchObject({ decision: 'withdraw', preferences: { analytics: true } });
    expect(Object.keys(body.proofs)).toHaveLength(23);
    const keys = parseVerifierKeys(sha256, Object.values(body.verifierKeys).flat().join('\n'));
    const found = recognize(utf8(JSON.stringify(body)));
    const verdict = found.kind === 'visitor' ? checkVisitor(found.answer, keys, crypto) : expect.fail(found.kind);
    expect(summaryOf(verdict)).toBe(`23 records of the visitor ${odd}: 23 hold.`);
    expect((await show(domain(second), odd)).body.records).toHaveLength(3);
    const looked = await ask<Visitor>('POST', `${organization}/visitors/lookup`, { body: { visitorId: odd } });
    expect(looked.body.records).toEqual(body.records);
  });

  it('is shown with every proof, also where two domains have a record with one id', async () => {
    const twin = recordAt(Date.now(), { domainId: first, visitorId: 'moved' });
    await persist(stack.db, [twin, { ...twin, domainId: second }], { owe: true });
    await sealed(first, [twin.id]);
    await sealed(second, [twin.id]);
    const { body } = await show(organization, 'moved');
    const keys = parseVerifierKeys(sha256, Object.values(body.verifierKeys).flat().join('\n'));
    const found = recognize(utf8(JSON.stringify(body)));
    const verdict = found.kind === 'visitor' ? checkVisitor(found.answer, keys, crypto) : expect.fail(found.kind);
    expect(summaryOf(verdict)).toBe('2 records of the visitor moved: 2 hold.');
    const names = [twin.id, `${body.records[1]?.domainId}/${twin.id}`];
    expect([Object.keys(body.proofs), Object.keys(body.bundles)]).toEqual([names, names]);
  });

  it('who is unknown is shown empty, and erased without any record; who cannot be is refused', async () => {
    for (const id of ['x'.repeat(129), '%E0%A4%A'])
      expectProblem(await ask('GET', `${organization}/visitors/${id}`), 400, 'invalid_request');
    for (const prefix of [organization, domain(first)]) {
      const { status, body } = await show(prefix, 'nobody');
      expect([status, body.records, body.current, body.proofs]).toEqual([200, [], {}, {}]);
      const erased = await erase(prefix, 'nobody');
      expect(erased.body).toMatchObject({ state: 'done', records: 0, visitorId: 'nobody' });
    }
  });

  it('who is erased leaves the decision, its entry and every proof, and nothing personal', async () => {
    const ids = toErase;
    const before = (await show(organization, 'to erase')).body;
    const counts = await counters();
    const erased = await erase(organization, 'to erase');
    expect(erased.status).toBe(200);
    expect(erased.body).toEqual({
      ...{
        erasureId: expect.stringMatching(/^ers_/),
        visitorId: 'to erase',
        state: 'done',
        records: 4,
        actor: 'officer',
      },
      ...{ erasedAt: expect.any(String), requestedAt: expect.any(String) },
    });
    expect(Date.parse(erased.body.requestedAt)).toBeLessThanOrEqual(Date.parse(erased.body.erasedAt ?? ''));
    expect((await show(organization, 'to erase')).body.records).toEqual([]);
    expect((await erase(organization, 'to erase')).body.records).toBe(0);
    const details = () => ask<ErasureDetails>('GET', `${organization}/erasures/${erased.body.erasureId}`);
    const { domains, ...later } = (await details()).body;
    expect(later).toEqual({ ...erased.body, visitorId: null });
    expect(domains).toMatchObject({ [first]: { records: 4 } });
    const { body: newest } = await ask<ErasuresPage>('GET', `${organization}/erasures?limit=1`);
    expect(newest.erasures).toMatchObject([{ state: 'done', records: 0 }]);
    const rest = await ask<ErasuresPage>('GET', `${organization}/erasures?limit=1&cursor=${newest.nextCursor}`);
    expect(rest.body.erasures).toEqual([later]);
    const personal = ofRecord.find(({ name }) => name === 'records')?.personal ?? [];
    const left = await stack.db.run(
      (sql) => sql<{ left: boolean }[]>`
        select num_nonnulls(${sql(personal)}) > 0 or erased_at is null or preferences is null as left
        from records where id = any(${ids})`,
    );
    expect(left.map((row) => row.left)).toEqual(ids.map(() => false));
    expect(await counters()).toEqual(counts);
    await showLog();
    const keys = before.verifierKeys[first] ?? [];
    await eventually(async () => expect(await erasedInFeed(first)).toEqual(expect.arrayContaining(ids)));
    const { [first]: sealedThere } = (await details()).body.domains;
    const entries = sealedThere?.entries ?? [];
    expect([sealedThere?.records, sealedThere?.positions.length, entries.length]).toEqual([4, 4, 4]);
    expect(entries.map(({ erased: of }) => of?.position).toSorted()).toEqual(sealedThere?.positions.toSorted());
    const { body: feed } = await read<Feed>('GET', `${domain(first)}/feed`);
    const positionOf = (id: string) =>
      feed.entries.find((entry) => entry.type === 'record' && entry.record.id === id)?.position;
    expect(sealedThere?.positions).toEqual(ids.map(positionOf).toSorted((one = 0, other = 0) => one - other));
    for (const { log, position } of entries) {
      const path = `${domain(first)}/log/entries/${position}/proof?log=${log}`;
      const { body: proof } = await read<string>('GET', path);
      expect(JSON.parse(entryOf(proof, keys).toString())).toMatchObject({ type: 'erasure', domain: first });
    }
    for (const id of ids) {
      const path = `${domain(first)}/records/${id}`;
      const { body: record } = await read<FullRecord>('GET', path);
      expect(record).toMatchObject({ decision: expect.any(String), visitorId: null, erasedAt: expect.any(String) });
      const { body: proof } = await read<string>('GET', `${path}/proof`);
      expect(entryOf(proof, keys)).toEqual(entryOf(before.proofs[id], keys));
      const asked = { headers: { accept: 'application/json' } };
      const { body } = await read<ProofBundle>('GET', `${path}/proof`, asked);
      expect(body.opening.private).toBeNull();
      expect(body.opening.circumstances.text).toContain('analytics');
    }
  });

  it('is erased in one organization only, and named in acts by a hash only, with whose token it was', async () => {
    const others = await makeTenant(stack.db);
    const theirs = await store(at(others.domainIds, 0), 'noted', 2);
    await store(first, 'noted', 2);
    await show(domain(first), 'noted');
    expect((await erase(organization, 'noted')).body.records).toBe(2);
    const kept = await stack.sql`select from records where id = any(${theirs}) and visitor_id = 'noted'`;
    expect(kept.count).toBe(2);
    const acts = await stack.sql<{ act: string; hash: string }>`
      select act, encode(hash, 'hex') as hash from visitor_acts where act like 'visitor.%' order by id desc limit 2`;
    expect(acts.map(({ act }) => act)).toEqual(['visitor.erase', 'visitor.access']);
    expect(new Set(acts.map(({ hash }) => hash)).size).toBe(1);
    expect(stack.api.lines.join('\n')).not.toContain('noted');
  });

  it('whose records are read by their id is noted once a minute and token, by a hash only', async () => {
    await store(first, 'read by id', 2);
    await showLog();
    const path = `${domain(first)}/records?visitorId=${encodeURIComponent('read by id')}`;
    await eventually(async () => expect((await read('GET', `${domain(first)}/records`)).status).toBe(200));
    onTestFinished(holdTheMinute());
    for (let again = 0; again < 3; again += 1) await read('GET', path);
    await askAs('read privacy')('GET', path);
    const hash = createVisitorHash(Buffer.from(privacyKey, 'hex'))(stack.tenant.organizationId, 'read by id');
    const acts = await stack.sql`select act, actor from visitor_acts where hash = ${hash}`;
    expect(acts).toEqual(Array(2).fill({ act: 'visitor.read', actor: 'officer' }));
    const named = await stack.sql`select from visitor_acts a where a::text like '%read by id%'`;
    expect(named.count).toBe(0);
  });

  it('is shown what they were shown, as far as the service holds it', async () => {
    const document = '{"language":"de","title":"Ihre Daten"}';
    const held = createHash('sha256').update(document).digest('hex');
    const put = await request(stack.api.baseUrl, `${domain(first)}/notices/${held}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-api-key': stack.apiKey },
      body: document,
    });
    expect(put.status).toBe(201);
    for (const [visitorId, notice] of [
      ['shown', held],
      ['not held', '0'.repeat(64)],
    ] as const) {
      await persist(stack.db, [recordAt(Date.now(), { domainId: first, visitorId, notice })], { owe: true });
    }
    expect((await show(organization, 'shown')).body.notices).toEqual({ [held]: document });
    // one domain has no document, and the other one has
    const [later, earlier] = [Date.now(), Date.now() - 60_000];
    for (const [domainId, time] of [
      [first, later],
      [second, earlier],
    ] as const) {
      await persist(stack.db, [recordAt(time, { domainId, visitorId: 'both', notice: held })], { owe: true });
    }
    expect((await show(organization, 'both')).body.notices).toEqual({ [held]: document });
    const { records, notices } = (await show(organization, 'not held')).body;
    expect([records.map(({ notice }) => notice), notices]).toEqual([['0'.repeat(64)], {}]);
  });

  it('two erasures at once erase every record once', async () => {
    await store(first, 'twice', 600);
    const begun = await Promise.all([erase(organization, 'twice'), erase(domain(first), 'twice')]);
    // the worker goes on with what took too long
    await eventually(async () => {
      const [one, other] = await Promise.all(
        begun.map(({ body }) => ask<ErasureDetails>('GET', `${organization}/erasures/${body.erasureId}`)),
      );
      expect([one?.body.state, other?.body.state]).toEqual(['done', 'done']);
      expect((one?.body.records ?? 0) + (other?.body.records ?? 0)).toBe(600);
    });
  });
});
