import { atLeast, atMost, inTurns, type Round } from '../figures.ts';
import { fullLoad, type Measurement } from '../measurement.ts';
import { pageOrigin } from '../requests.ts';

export const accept: Measurement = {
  name: 'accept',
  about: '202s a second of one API process without a worker ÷ bare Koa; and what limits and origins cost',
  rounds: async (stack, { seconds }) =>
    fullLoad('accept', stack, await stack.startApi(), { seconds, send: { sites: stack.sites } }),
  run: async (stack, { rounds, seconds }) => {
    const load = { seconds, send: { sites: stack.sites } };
    const rows = await inTurns(rounds, {
      reference: await fullLoad('accept', stack, await stack.startBare(), load),
      figure: await fullLoad('accept', stack, await stack.startApi(), load),
      targets: { accept: atLeast(0.85) },
    });
    await stack.reset();

    // Both sides get requests from pages of a shop, each visitor's from another address. CPU time is compared, since on
    // a shared machine rates differ by more than this.
    const begin = async (listed: boolean, env: Record<string, string>): Promise<Round> => {
      const api = await stack.startApi({ TRUSTED_PROXY_HOPS: '1', ...env });
      const sites = stack.sites.filter((site) => site.listed === listed);
      const send = { sites, addresses: true, origin: pageOrigin };
      const round = await fullLoad('controls', stack, api, { seconds, send });
      return async () => ({ 'accept: controls': (await round())['controls: API'] ?? { value: Number.NaN, unit: '' } });
    };
    // as much as may be set: every request is counted and none refused; the limit for failures comes with it
    const [reference, figure] = [await begin(false, {}), await begin(true, { RECORD_RATE_PER_MINUTE: '1000000' })];
    const targets = { 'accept: controls': atMost(1.08) };
    return [...rows, ...(await inTurns(3 * rounds, { reference, figure, targets, together: true }))];
  },
};
