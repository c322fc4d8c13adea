/** A receiver of webhooks, in this process: takes what comes to `/well`, refuses what comes to `/fail`, and counts. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const message = z.object({
  data: z.object({ domainId: z.string(), first: z.number(), size: z.number(), entries: z.array(z.unknown()) }),
});

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver() {
  const counts = { entries: 0, messages: 0, refused: 0 };
  const next = new Map<string, number>();
  const gaps: string[] = [];
  const repeats: string[] = [];
  const server = createServer(async (request, response) => {
    const { data } = message.parse(await json(request));
    const isTaken = request.url?.startsWith('/well') === true;
    response.writeHead(isTaken ? 204 : 500).end();
    if (!isTaken) {
      counts.refused += 1;
      return;
    }
    counts.messages += 1;
    counts.entries += data.entries.length;
    const lane = `${request.url} ${data.domainId}`;
    const expected = next.get(lane) ?? data.first;
    if (data.first !== expected)
      (data.first > expected ? gaps : repeats).push(`${lane} at ${data.first} instead of ${expected}`);
    next.set(lane, Math.max(expected, data.size));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    counts,
    /** what came too early */
    gaps,
    /** what came again, as it may after a fault */
    repeats,
    /** up to which position each receiver has each domain's entries */
    reached: (path: string, domainId: string) => next.get(`${path} ${domainId}`) ?? 0,
    /** Everything may come again. */
    forget: () => {
      next.clear();
      Object.assign(counts, { entries: 0, messages: 0, refused: 0 });
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
