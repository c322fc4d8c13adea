import { pageOrigin } from '../bodies.ts';
import { controlsRow } from '../controls.ts';
import { runLoad } from '../load.ts';
import { atLeast, compared, type Measurement } from '../measurement.ts';
import { alternate } from '../rounds.ts';
import type { Stack } from '../stack.ts';

export const accept: Measurement = {
  name: 'accept',
  about: '202s a second of one API process, worker off ÷ bare Koa, and ÷ one that waits for one write to Redis',
  run: async (bench, scale) => {
    const stack = await bench.empty();
    const measured = await acceptRates(stack, scale);
    const safe = await acceptRates(stack, scale, { safe: true });
    bench.known.set('accept', measured.figure);
    await stack.reset();
    // pages of a shop send them, each visitor's from another address
    const send = { addresses: true, origin: pageOrigin };
    const controls = await controlsRow('accept', stack, scale, {
      env: { TRUSTED_PROXY_HOPS: '1' },
      on: { sites: stack.listed, ...send },
      off: { sites: stack.sites, ...send },
    });
    return [
      compared('accept', 'records/s', measured, atLeast(0.85)),
      compared('accept: floor', 'records/s', safe),
      controls,
    ];
  },
};

async function acceptRates(
  stack: Stack,
  { rounds, seconds }: { rounds: number; seconds: number },
  reference = { safe: false },
) {
  const { dist, sites } = stack;
  const [bare, api] = await Promise.all([stack.startBare(reference), stack.startApi()]);
  const measure = (baseUrl: string, duration: number) => runLoad(dist, { baseUrl, seconds: duration, send: { sites } });
  for (const { baseUrl } of [bare, api]) await measure(baseUrl, Math.min(3, seconds));
  return alternate(rounds, {
    reference: () => measure(bare.baseUrl, seconds),
    figure: () => measure(api.baseUrl, seconds),
  });
}

/** What `accept` found in this run, or a quick look. */
export async function knownAcceptRate(known: Map<string, number>, stack: Stack): Promise<number> {
  const rate = known.get('accept') ?? (await acceptRates(stack, { rounds: 1, seconds: 2 })).figure;
  known.set('accept', rate);
  return rate;
}
