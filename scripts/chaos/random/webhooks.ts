/**
 * A receiver of each organization's webhooks that now and then fails: every entry and every erasure comes at least once,
 * also where the log has ended meanwhile.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { parseEntry } from '#libs/proof/tree/parse-entry';
import { waitUntil } from '../../stack/wait.ts';
import { callUntilDone } from '../calls.ts';
import { countSealed } from '../checkpoints.ts';
import { toErase } from '../load.ts';
import { type Activity, oneOfEach, type Scene } from '../scene.ts';

/** One message of so many is refused at first. */
const failsOneOf = 20;
/** Milliseconds: what fails twice, as when a worker is killed on the second try, comes again after five minutes. */
const patience = 400_000;
/** Milliseconds: a worker may be frozen between reading a message and sending it. */
const mayBeOnItsWay = 30_000;

const entry = z.object({
  record: z
    .object({ id: z.string(), visitorId: z.string().nullable(), receivedAt: z.string(), position: z.number() })
    .optional(),
});
const message = z.object({
  type: z.string(),
  data: z.object({
    domainId: z.string(),
    log: z.number(),
    first: z.number().optional(),
    size: z.number().optional(),
    entries: z.array(entry).default([]),
    positions: z.array(z.number()).default([]),
  }),
});

export async function receiveWebhooks(scene: Scene, erased: Map<string, number>): Promise<Activity> {
  /** Places as `domain/log/position`: of entries, of those that were erased, and of records, by their ids. */
  const told = { entries: new Set<string>(), erasures: new Set<string>(), records: new Map<string, string>() };
  const refused = new Set<string>();
  let messages = 0;

  const take = ({ data: { domainId, log, first = 0, size = 0, entries, positions } }: z.infer<typeof message>) => {
    const place = (position: number) => `${domainId}/${log}/${position}`;
    for (const position of positions) told.erasures.add(place(position));
    for (let position = first; position < size; position += 1) told.entries.add(place(position));
    for (const { id, visitorId, receivedAt, position } of entries.flatMap(({ record }) => record ?? [])) {
      told.records.set(id, place(position));
      if (!visitorId?.startsWith(toErase)) continue;
      const since = performance.now() - (erased.get(visitorId) ?? Number.POSITIVE_INFINITY);
      const what = `${visitorId} of ${receivedAt} at ${place(position)}`;
      scene.expect(since < mayBeOnItsWay, `I10: a webhook has ${what} ${Math.round(since)} ms after the erasure`);
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
  for (const site of oneOfEach(scene)) {
    const body = JSON.stringify({ url, types: ['records.sealed', 'visitor.erased'] });
    const path = '/v1/organization/webhooks';
    await callUntilDone(scene, { site, scope: 'read manage', method: 'POST', path, body });
  }

  /** How many entries, records and erasures of records have not come. */
  const countMissing = async (): Promise<number> => {
    const entries = await countSealed(scene);
    const stored = await scene.sql((sql) => sql<{ id: string }[]>`select id from records`);
    const texts = await scene.sql(
      (sql) => sql<{ text: string }[]>`
        select text from log_texts join logs using (domain_number, log)
        where position < checkpoint_size and notice_number is null`,
    );
    const erasures = texts.map(({ text }) => parseEntry(text)).filter((entry) => entry.type === 'erasure');
    const isTold = (id: string) => told.erasures.has(told.records.get(id) ?? '');
    return (
      Math.max(0, entries - told.entries.size) +
      stored.filter(({ id }) => !told.records.has(id)).length +
      erasures.filter(({ id }) => !isTold(id)).length
    );
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
