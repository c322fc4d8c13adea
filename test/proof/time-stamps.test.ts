import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { findLog } from '#libs/proof/published';
import { findTimestamp } from '#libs/proof/timestamps/stamped-checkpoints';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import { persist } from '#libs/record/persist/persist';
import { request, tokenFor } from '../support/client.ts';
import { crypto } from '../support/log-reader.ts';
import { recordAt } from '../support/records.ts';
import { startApi, startWorker } from '../support/service.ts';
import { at } from '../support/stack.ts';
import { makeTenant, openDatabase, openRedisServer } from '../support/stores.ts';
import { hasOpenssl, startTimeAuthority } from '../support/time-authority.ts';
import { eventually } from '../support/wait.ts';

it.skipIf(!hasOpenssl)(
  'a worker with TIMESTAMP_URL has what it seals time-stamped, and bundles lead to the time-stamp',
  async () => {
    const { url, db } = await openDatabase();
    const redis = await openRedisServer();
    const authority = await startTimeAuthority();
    const { organizationId, domainIds } = await makeTenant(db);
    const domainId = at(domainIds, 0);
    const env = {
      DATABASE_URL: url,
      REDIS_URL: redis.url,
      LOG_NAME: 'consent.example.com',
      LOG_KEY: randomBytes(32).toString('hex'),
      SEAL_SECONDS: '1',
    };
    const first = recordAt(Date.now(), { domainId });
    await persist(db, [first]);

    const worker = await startWorker({ ...env, TIMESTAMP_URL: authority.url });
    await worker.logged('timestamped');
    const log = (await db.run((sql) => findLog(sql, domainId))) ?? expect.fail('not sealed');
    expect(await db.run((sql) => findTimestamp(sql, log))).toMatchObject({ index: 0, size: 1, path: [] });
    expect(authority.requests).toHaveLength(1);
    // a record's bundle is against that checkpoint, also once there are newer ones
    await persist(db, [recordAt(Date.now(), { domainId })]);
    await eventually(async () => expect((await db.run((sql) => findLog(sql, domainId)))?.size).toBe(2), {
      within: 30_000,
    });
    const api = await startApi(env);
    const token = tokenFor(organizationId);
    const bundle = await request(api.baseUrl, `/v1/consent/${domainId}/records/${first.id}/proof`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    });
    const keys = parseVerifierKeys(crypto.sha256, log.verifierKeys.join('\n'));
    const verdict = checkFile(Buffer.from(JSON.stringify(bundle.body)), keys, crypto);
    expect(verdict).toMatchObject({ holds: true, timestamp: { isOfProof: true, checkpoint: { size: 1 } } });
    expect(await worker.stop()).toBe(true);
  },
);
