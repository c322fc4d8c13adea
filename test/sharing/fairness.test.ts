/**
 * Three organizations at their worst at once, and a fourth that works as if they were not there. What it waits for is
 * counted in pieces of their work, since a machine that is busy with theirs is slower for everybody.
 */
import { request as httpRequest } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#libs/base/db/database';
import { createSecretBox } from '#libs/base/secret-box';
import type { Imported } from '#libs/log/import/contract';
import { persist } from '#libs/record/persist/persist';
import { createWebhookAdministration } from '#libs/webhooks/administration';
import type { Webhook } from '#libs/webhooks/stored-webhooks';
import { createClient, request, tokenFor } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startWorker } from '../support/service.ts';
import { secretsKey } from '../support/settings.ts';
import { at, openStores, sealSettings } from '../support/stack.ts';
import { makeTenant, type Tenant } from '../support/stores.ts';
import { eventually } from '../support/wait.ts';

/** of the API's reads: many times the eight places */
const readsOfOne = 20;
/** of a worker for one organization */
const deliveriesOfOne = 32;

describe('beside three organizations at their worst', () => {
  let db: Database;
  let baseUrl: string;
  let worst: Tenant[];
  let fourth: Tenant;

  beforeAll(async () => {
    const stores = await openStores();
    const env = { ...stores.env, ...sealSettings, WEBHOOK_ALLOW_PRIVATE: 'true' };
    db = stores.db;
    [{ baseUrl }] = await Promise.all([startApi(env), startWorker(env)]);
    worst = [await makeTenant(db), await makeTenant(db), await makeTenant(db)];
  });
  beforeEach(async () => {
    fourth = await makeTenant(db);
  });

  const importPath = ({ domainIds }: Tenant, query = '') =>
    `/v1/consent/${at(domainIds, 0)}/import?format=ndjson${query}`;
  const headersOf = ({ organizationId }: Tenant, scope: string) => ({
    authorization: `Bearer ${tokenFor(organizationId, { scope })}`,
    'content-type': 'application/x-ndjson',
    'accept-encoding': 'identity',
  });
  const rows = (count: number) =>
    Array.from(
      { length: count },
      (_, externalId) => `${JSON.stringify({ decision: 'withdraw', decidedAt: '2024-02-29T00:00:00Z', externalId })}\n`,
    ).join('');
  const importFor = (of: Tenant, count: number) =>
    request<Imported>(baseUrl, importPath(of), { method: 'POST', headers: headersOf(of, 'import'), body: rows(count) });
  /** A dry run whose body never ends. */
  const holdImport = (of: Tenant) => {
    const upload = httpRequest(baseUrl + importPath(of, '&dryRun=true'), {
      method: 'POST',
      headers: headersOf(of, 'import'),
    });
    upload.on('error', () => {}).write('\n');
    return upload;
  };
  /** How many of these have ended so far. */
  const countEnds = (all: Promise<unknown>[]) => {
    const count = { ended: 0 };
    for (const each of all) {
      const end = () => {
        count.ended += 1;
      };
      each.then(end, end);
    }
    return count;
  };

  it('a read waits for a turn of each, however many of theirs wait', async () => {
    const { get } = createClient(baseUrl, { ...fourth, scope: 'read' });
    let release = () => {};
    const isLocked = new Promise<void>((resolve) => {
      void db
        .run(
          (sql) =>
            sql.begin(async (own) => {
              // each of their reads takes as long as a statement may
              await own`lock table administrative_acts in access exclusive mode`;
              resolve();
              await new Promise<void>((done) => {
                release = done;
              });
            }),
          60_000,
        )
        .catch(() => {});
    });
    await isLocked;
    const theirs = worst.flatMap((of) => {
      const client = createClient(baseUrl, { ...of, scope: 'manage' });
      return Array.from({ length: readsOfOne }, () => client.get('/v1/organization/acts'));
    });
    const count = countEnds(theirs);
    const answer = await get(`/v1/consent/${at(fourth.domainIds, 0)}/records?limit=1`);
    const ended = count.ended;
    release();
    await Promise.allSettled(theirs);
    // it would be too late behind all of theirs, which are given up when their time is over
    expect(answer.status).toBe(200);
    expect(ended).toBeLessThan(theirs.length);
  });

  it('a message is sent though none of theirs is answered, and the rest of theirs waits', async () => {
    const [slow, own] = [await startReceiver(), await startReceiver()];
    slow.answerWith(() => {});
    const [admin, box] = [createWebhookAdministration(db, 'test'), createSecretBox(Buffer.from(secretsKey, 'hex'))];
    const make = ({ organizationId }: Tenant, url: string) =>
      admin.create(organizationId, { url, types: ['records.sealed'], domains: null, decisions: null }, box);
    const theirs: Webhook[] = [];
    for (const of of worst)
      for (let count = 0; count < deliveriesOfOne + 8; count += 1) theirs.push((await make(of, slow.url)).webhook);
    // at once: a receiver that lets one time out has one place
    await Promise.all(theirs.map((webhook) => admin.test(webhook)));
    await slow.until(worst.length * deliveriesOfOne);
    await make(fourth, own.url);
    await persist(db, [recordAt(Date.now(), { domainId: at(fourth.domainIds, 0) })], { owe: true });
    await own.until(1);
    expect(slow.received.length).toBeLessThan(theirs.length);
  });

  it('imports, exports and records go on beside what they hold open and what they import', async () => {
    const held = worst.flatMap((of) => [1, 2, 3].map(() => holdImport(of)));
    const theirs = worst.map((of) => importFor(of, 6_000));
    const count = countEnds(theirs);
    const [imported, receipts] = await Promise.all([
      importFor(fourth, 600),
      Promise.all(
        Array.from({ length: 20 }, () =>
          createClient(baseUrl, fourth).record(at(fourth.domainIds, 0), at(fourth.apiKeys, 0), {
            decision: 'accept_all',
          }),
        ),
      ),
    ]);
    expect([imported.status, imported.body.queued, new Set(receipts.map(({ status }) => status))]).toEqual([
      200,
      600,
      new Set([202]),
    ]);
    // ten times as much as the fourth's
    expect(count.ended).toBe(0);
    const exported = () =>
      request<string>(baseUrl, `/v1/consent/${at(fourth.domainIds, 0)}/export`, { headers: headersOf(fourth, 'read') });
    // what it recorded is there
    await eventually(async () => expect((await exported()).body).toContain('"count":620'));
    for (const answer of await Promise.all(theirs)) expect(answer.body).toMatchObject({ queued: 6_000 });
    for (const upload of held) upload.destroy();
  });
});
