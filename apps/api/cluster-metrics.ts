/**
 * Sums the metrics of all processes of WEB_CONCURRENCY. No counter may fall, since Prometheus would take that for a restart
 * and count everything again. So the last counts of a process stay in the sum when it dies and while it does not respond.
 */
import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { z } from 'zod';
import { within } from '#libs/base/timers';

/** Milliseconds that a scrape waits for a process. */
const patience = 2_000;

const metric = z.looseObject({ type: z.string(), aggregator: z.string() });
const question = z.object({ type: z.literal('metrics-question'), scrape: z.number() });
const response = z.object({ type: z.literal('metrics-response'), scrape: z.number(), metrics: z.array(metric) });
type Metric = z.infer<typeof metric>;
type Exposition = { type: string; text: string };

/** In a forked process: responds to the primary. */
export function shareMetrics(register: Registry): void {
  process.on('message', (message) => {
    const { data } = question.safeParse(message);
    if (!data) return;
    register
      .getMetricsAsJSON()
      .then((metrics) => process.send?.({ type: 'metrics-response', scrape: data.scrape, metrics }))
      // the primary is gone
      .catch(() => {});
  });
}

/** `counts`: counters and histograms of processes that no longer respond. */
export function addUp(responses: Metric[][], counts: Metric[][]): Registry {
  // an average would hide the one process that is stuck
  const worst = responses.map((metrics) =>
    metrics.map((each) => (each.aggregator === 'average' ? { ...each, aggregator: 'max' } : each)),
  );
  return AggregatorRegistry.aggregate([...worst, ...counts.map(countsOf)]);
}

const countsOf = (metrics: Metric[]) => metrics.filter(({ type }) => type === 'counter' || type === 'histogram');

/** In the primary. `listening`: the ids of the processes that are expected to respond. */
export function gatherMetrics(
  listening: ReadonlySet<number>,
  onSilent: (pid: number | undefined) => void,
): () => Promise<Exposition> {
  const last = new Map<number, Metric[]>();
  const hear = new Map<number, (id: number) => void>();
  let departed: Metric[] = [];
  let scrapes = 0;

  cluster.on('message', ({ id }, message) => {
    const { data } = response.safeParse(message);
    // a process that is gone was added to the departed with its last metrics
    if (!data || !listening.has(id)) return;
    last.set(id, data.metrics);
    hear.get(data.scrape)?.(id);
  });
  cluster.on('exit', ({ id }) => {
    departed = z.array(metric).parse(addUp([], [departed, last.get(id) ?? []]).getMetricsAsArray());
    last.delete(id);
  });

  const ask = async (workers: Worker[]): Promise<Set<number>> => {
    scrapes += 1;
    const scrape = scrapes;
    const responded = new Set<number>();
    const all = new Promise<void>((resolve) => {
      const end = () => responded.size === workers.length && resolve();
      hear.set(scrape, (id) => {
        responded.add(id);
        end();
      });
      end();
    });
    // it may die meanwhile, which the `exit` event handles
    for (const worker of workers) worker.send({ type: 'metrics-question', scrape }, () => {});
    await within(patience, all).catch(() => {});
    hear.delete(scrape);
    return responded;
  };

  return async () => {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const asked = workers.filter(({ id }) => listening.has(id));
    const responded = await ask(asked);
    for (const { id, process } of asked) if (!responded.has(id) && listening.has(id)) onSilent(process.pid);
    const of = (hasResponded: boolean) =>
      [...last].flatMap(([id, metrics]) => (responded.has(id) === hasResponded ? [metrics] : []));
    const sum = addUp(of(true), [...of(false), departed]);
    return { type: sum.contentType, text: await sum.metrics() };
  };
}
