/** A receiver of each organization's webhooks that now and then fails: every entry and every erasure comes at least once. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { readErasedPositions } from '#libs/store/logs/feed';
import { waitUntil } from '../../stack/wait.ts';
import { callUntilDone } from '../calls.ts';
import { toErase } from '../load.ts';
import type { Activity, Scene } from '../scene.ts';

/** One message of so many is refused at first. */
const failsOneOf = 20;
/** Milliseconds: what fails twice, as when a worker is killed on the second try, comes again after five minutes. */
const patience = 400_000;
/** Milliseconds: a worker may be frozen between reading a message and sending it. */
const mayBeOnItsWay = 30_000;

const entry = z.object({
  record: z.object({ id: z.string(), visitorId: z.string().nullable() }).optional(),
});
const message = z.object({
  type: z.string(),
  data: z.object({
    domainId: z.string(),
    first: z.number().optional(),
    size: z.number().optional(),
    entries: z.array(entry).default([]),
    positions: z.array(z.number()).default([]),
  }),
});

export async function receiveWebhooks(scene: Scene, erased: Map<string, number>): Promise<Activity> {
  /** positions as `domain/position`, of entries and of those that were erased, and ids of records */
  const told = { entries: new Set<string>(), erasures: new Set<string>(), records: new Set<string>() };
  const refused = new Set<string>();
  let messages = 0;

  const take = ({ data: { domainId, first = 0, size = 0, entries, positions } }: z.infer<typeof message>) => {
    for (const position of positions) told.erasures.add(`${domainId}/${position}`);
    for (let position = first; position < size; position += 1) told.entries.add(`${domainId}/${position}`);
    for (const { id, visitorId } of entries.flatMap(({ record }) => record ?? [])) {
      told.records.add(id);
      if (!visitorId?.startsWith(toErase)) continue;
      const since = performance.now() - (erased.get(visitorId) ?? Number.POSITIVE_INFINITY);
      scene.expect(since < mayBeOnItsWay, `I10: a webhook has a visitor ${Math.round(since)} ms after the erasure`);
    }
  };

  const server = createServer(async (request, response) => {
    const id = String(request.headers['webhook-id']);
    const body = await json(request).then((read) => message.parse(read));
    messages += 1;
    const isRefused = messages % failsOneOf === 0 && !refused.has(id);
    if (isRefused) refused.add(id);
    else take(body);
    response.writeHead(isRefused ? 500 : 204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  scene.onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
  for (const site of new Map(scene.sites.map((each) => [each.organizationId, each])).values()) {
    const body = JSON.stringify({ url, types: ['records.sealed', 'visitor.erased'] });
    const path = '/v1/organization/webhooks';
    await callUntilDone(scene, { site, scope: 'read manage', method: 'POST', path, body });
  }

  /** How many entries, records and erasures of records have not come. */
  const countMissing = async (): Promise<number> => {
    const logs = await scene.sql(
      (sql) => sql<{ domainId: string; domainNumber: number; log: number; size: number }[]>`
        select id as "domainId", domain_number as "domainNumber", log, checkpoint_size as size
        from logs join domains on number = domain_number`,
    );
    let missing = logs.reduce((sum, { size }) => sum + size, 0) - told.entries.size;
    for (const log of logs) {
      const positions = await scene.sql((sql) => readErasedPositions(sql, log, { from: 0, below: log.size }));
      missing += positions.filter((position) => !told.erasures.has(`${log.domainId}/${position}`)).length;
    }
    const stored = await scene.sql((sql) => sql<{ id: string }[]>`select id from records`);
    return missing + stored.filter(({ id }) => !told.records.has(id)).length;
  };

  return {
    check: async () => {
      let missing = 0;
      const isComplete = async () => {
        missing = await countMissing();
        return missing === 0;
      };
      await waitUntil(isComplete, { deadlineMs: patience, intervalMs: 1_000 });
      scene.expect(missing === 0, `${missing} entries, records and erasures did not come by webhook`);
      scene.expect(told.erasures.size > 0, 'no erasure came by webhook');
      console.log(`${messages} messages came, of which ${refused.size} were refused at first`);
    },
  };
}
