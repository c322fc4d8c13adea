import { expect, it } from 'vitest';
import { findLog } from '#libs/proof/published';
import { findTimestamp } from '#libs/proof/timestamps/stamped-checkpoints';
import { checkFile, parseVerifierKeys } from '#libs/proof/tree/check-file';
import { persist } from '#libs/record/persist/persist';
import { request, tokenFor } from '../support/client.ts';
import { crypto } from '../support/log-reader.ts';
import { recordAt } from '../support/records.ts';
import { startWorker } from '../support/service.ts';
import { sealSettings, startStack } from '../support/stack.ts';
import { hasOpenssl, startTimeAuthority } from '../support/time-authority.ts';
import { eventually } from '../support/wait.ts';

it.skipIf(!hasOpenssl)(
  'a worker with TIMESTAMP_URL has what it seals time-stamped, and bundles lead to the time-stamp',
  async () => {
    const { db, env, api, tenant, domainId } = await startStack({ worker: false });
    const authority = await startTimeAuthority();
    const first = recordAt(Date.now(), { domainId });
    await persist(db, [first]);

    const worker = await startWorker({ ...env, ...sealSettings, TIMESTAMP_URL: authority.url });
    await worker.logged('timestamped');
    const log = (await db.run((sql) => findLog(sql, domainId))) ?? expect.fail('not sealed');
    expect(await db.run((sql) => findTimestamp(sql, log))).toMatchObject({ index: 0, size: 1, path: [] });
    expect(authority.requests).toHaveLength(1);
    // a record's bundle is against that checkpoint, also once there are newer ones
    await persist(db, [recordAt(Date.now(), { domainId })]);
    await eventually(async () => expect((await db.run((sql) => findLog(sql, domainId)))?.size).toBe(2));
    const bundle = await request(api.baseUrl, `/v1/consent/${domainId}/records/${first.id}/proof`, {
      headers: { authorization: `Bearer ${tokenFor(tenant.organizationId)}`, accept: 'application/json' },
    });
    const keys = parseVerifierKeys(crypto.sha256, log.verifierKeys.join('\n'));
    const verdict = checkFile(Buffer.from(JSON.stringify(bundle.body)), keys, crypto);
    expect(verdict).toMatchObject({ holds: true, timestamp: { isOfProof: true, checkpoint: { size: 1 } } });
    expect(await worker.stop()).toBe(true);
  },
);
