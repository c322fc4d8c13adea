/** `npm run demo [-- --records N --months N]`: fills the demo organization of a running `npm start` with a year. */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { administer } from '#libs/tenants/administration';
import { createTools } from '../apps/cli/tools.ts';
import { fill } from './demo/fill.ts';
import { Advice, describe, wholeNumber } from './stack/advice.ts';
import { onInterrupt } from './stack/private-stores.ts';
import { readPrivate } from './start/settings.ts';

const { values } = parseArgs({
  options: { records: { type: 'string', default: '200000' }, months: { type: 'string', default: '12' } },
});

const stop = onInterrupt();

const period = {
  records: wholeNumber('--records', values.records, 1, 10_000_000),
  months: wholeNumber('--months', values.months, 1, 60),
  until: Date.now(),
};
const demo = readPrivate('demo.json');
if (demo === undefined) throw new Advice('npm start is not running in this folder: start it in another terminal.');
const { organizationId } = z.object({ organizationId: z.string() }).parse(JSON.parse(demo));
const started = performance.now();
const { added, present } = await administer(createTools(process.env), (admin, db) =>
  fill({ db, admin, organizationId }, period, { stop, say: console.log }),
).catch((error) => {
  throw new Advice(describe(error));
});
const seconds = ((performance.now() - started) / 1_000).toFixed(0);
const [more, before] = [added, present].map((count) => count.toLocaleString('en'));
console.log(`${more} records added in ${seconds} s, ${before} were there already.`);
if (stop.aborted) console.log('Stopped: what was added stays. Run it again to continue.');
process.exit(stop.aborted ? 130 : 0);
