/** Publishes checkpoints: Redis remembers the size and root first, so that a database restored later cannot contradict them. */

import type { Database } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';
import type { RedisConnection } from '#libs/base/redis/connection';
import { sha256 } from '#libs/base/sha256';
import type { ProofMetrics } from '../metrics.ts';
import { base64 } from '../tree/bytes.ts';
import { rootOf, unpackFrontier } from '../tree/frontier.ts';
import { isBehind, recall, remember } from '../witness.ts';
import { listUnpublished, publishCheckpoints, type Unpublished } from './checkpoints.ts';
import type { Signer } from './signer.ts';

/** checkpoints in one statement */
const chunk = 500;

export async function publish(parts: {
  db: Database;
  redis: RedisConnection;
  signer: Signer;
  metrics: Pick<ProofMetrics, 'checkpoints'>;
}): Promise<void> {
  const { db, redis, signer, metrics } = parts;
  const unpublished = await db.read((sql) => listUnpublished(sql, signer.id));
  for (const some of chunksOf(unpublished, chunk)) {
    const witnessed = await recall(
      redis.client,
      some.map(({ domainId }) => domainId),
    );
    const publishable = some.filter((own, at) => !isBehind(own, witnessed[at])).map(withRoot);
    await remember(
      redis.client,
      publishable.map(({ domainId, log, size, root }) => ({ domainId, log, size, root: base64(root) })),
    );
    const signed = publishable.map(({ domainNumber, log, origin, size, root }) => ({
      domainNumber,
      log,
      size,
      ...signer.sign(origin, size, root),
    }));
    await db.write((sql) => publishCheckpoints(sql, signed, signer.id));
    metrics.checkpoints.inc(signed.length);
  }
}

const withRoot = (own: Unpublished) => ({ ...own, root: rootOf(sha256, unpackFrontier(own.size, own.frontier)) });
