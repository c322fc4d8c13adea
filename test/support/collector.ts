/** A collector of OpenTelemetry: takes OTLP over HTTP as JSON, and keeps the spans. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { listen } from './listen.ts';
import { eventually } from './wait.ts';

const value = z.union([
  z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z.object({ intValue: z.number() }).transform(({ intValue }) => intValue),
  z.looseObject({}).transform((other) => JSON.stringify(other)),
]);
const attributes = z
  .array(z.object({ key: z.string(), value }))
  .transform((list) => Object.fromEntries(list.map((each) => [each.key, each.value])));
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes,
  events: z.array(z.unknown()),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })),
  status: z.object({ code: z.number() }),
});
const sent = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes }), scopeSpans: z.array(z.object({ spans: z.array(span) })) }),
  ),
});

export type CollectedSpan = z.infer<typeof span> & { service: unknown; instance: unknown };

interface Collector {
  /** what OTEL_EXPORTER_OTLP_ENDPOINT is set to */
  endpoint: string;
  spans: CollectedSpan[];
  /** all that came, as it came */
  bodies: string[];
  headers: Record<string, unknown>[];
  named(name: string): CollectedSpan[];
  /** once there are so many of this name */
  until(name: string, count: number): Promise<CollectedSpan[]>;
  /** From now on it accepts requests and does not respond. */
  fail(how: 'hangs' | 'refuses'): void;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const headers: Record<string, unknown>[] = [];
  let failing: 'hangs' | 'refuses' | undefined;
  const server = createServer(async (request, response) => {
    if (request.url !== '/v1/traces') return void response.writeHead(404).end();
    // the sender may give up in the middle
    const body = await text(request).catch(() => undefined);
    if (failing === 'refuses') return void response.writeHead(400).end();
    if (failing === 'hangs' || body === undefined) return;
    bodies.push(body);
    headers.push(request.headers);
    for (const { resource, scopeSpans } of sent.parse(JSON.parse(body)).resourceSpans)
      for (const each of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({
          ...each,
          service: resource.attributes['service.name'],
          instance: resource.attributes['service.instance.id'],
        });
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  const port = await listen(server);
  const named = (name: string) => spans.filter((each) => each.name === name);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    headers,
    named,
    until: (name, count) =>
      eventually(() => {
        const found = named(name);
        if (found.length < count) throw new Error(`${found.length} spans "${name}" instead of ${count}`);
        return found;
      }),
    fail: (how) => {
      failing = how;
    },
  };
}
