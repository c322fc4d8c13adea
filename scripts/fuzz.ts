/**
 * `npm run fuzz [-- --requests N --seed S]`: sends hostile requests, and checks that every acknowledged record is stored.
 */
import { parseArgs } from 'node:util';
import { startChaosStack } from './chaos/stack.ts';
import { recordBesidePeers } from './fuzz/peers.ts';
import { accountSettings, fuzz, prepare, prepared, record, waitForTotal } from './fuzz/run.ts';
import { wholeNumber } from './stack/advice.ts';
import { newKey, onInterrupt, stopAtInterrupt } from './stack/private-stores.ts';
import { signToken } from './stack/sites.ts';

/** Bytes by which the heap varies without a leak. */
const allowedGrowth = 32 * 1024 * 1024;

const { values } = parseArgs({ options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string' } } });
const requests = wholeNumber('--requests', values.requests, 1, 1_000_000);
const seed = values.seed === undefined ? undefined : Number(values.seed);

const stack = await stopAtInterrupt(onInterrupt(), startChaosStack());
try {
  // the worker has no such key, so it sends no webhooks
  const settings = { SECRETS_KEY: newKey(), ...accountSettings };
  const [api] = await Promise.all([stack.start('api', settings), stack.start('worker')]);
  const tokenOf = (scope: string) => signToken(stack.site.organizationId, stack.jwtSecret, scope);
  const tokens = { token: tokenOf('read privacy import'), webhooksToken: tokenOf('read manage') };
  const site = { ...stack.site, baseUrl: api.baseUrl, ...tokens };
  const known = await prepare(site);
  const started = performance.now();
  const { statuses, recorded, imported, growth } = await fuzz({ ...api, known }, { requests, seed });
  const isComplete = await waitForTotal(site, recorded.size + imported + prepared);
  const checks = {
    'what was acknowledged is there once, and nothing else is': isComplete,
    'the service records as before': (await record(site)) === 202,
    'it saw nothing that it did not foresee': !api.lines.some((line) => /"event":"(bug|response_failed)"/.test(line)),
    ...(await recordBesidePeers(site)),
    [`its heap grew by ${Math.round(growth / 1024 / 1024)} MiB`]: growth < allowedGrowth,
  };
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  const took = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${requests} requests in ${took} s: ${counts.join(', ')}; ${imported} rows imported`);
  for (const [name, held] of Object.entries(checks)) console.log(`  ${held ? 'held  ' : 'BROKEN'}  ${name}`);
  if (Object.values(checks).includes(false)) process.exitCode = 1;
} finally {
  await stack.stop();
}
