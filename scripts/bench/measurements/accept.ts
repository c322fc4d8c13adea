import { atMost, inTurns, type Round } from '../figures.ts';
import { bareKoa, compare, fullLoad, type Measurement } from '../measurement.ts';
import { pageOrigin } from '../requests.ts';

export const accept = compare(
  'accept',
  '202s a second of one API process without a worker ÷ bare Koa',
  0.85,
  bareKoa('accept'),
  async (stack, { seconds }) => fullLoad('accept', stack, await stack.startApi(), seconds),
);

/** CPU time is compared, and at the same time: on a shared machine rates differ by more than this. */
export const controls: Measurement = {
  name: 'controls',
  about: 'what limits and lists of origins cost, for pages of a shop with each visitor at another address',
  run: async (stack, { rounds, seconds }) => {
    const begin = async (listed: boolean, env: Record<string, string> = {}): Promise<Round> => {
      const api = await stack.startApi({ TRUSTED_PROXY_HOPS: '1', ...env });
      const sites = stack.sites.filter((site) => site.listed === listed);
      const round = await fullLoad('controls', stack, api, seconds, { sites, addresses: true, origin: pageOrigin });
      return async () => ({ 'accept: controls': (await round())['controls: API'] ?? { value: Number.NaN, unit: '' } });
    };
    const reference = await begin(false);
    // as much as may be set: every request is counted and none refused; the limit for failures comes with it
    const figure = await begin(true, { RECORD_RATE_PER_MINUTE: '1000000' });
    return inTurns(3 * rounds, { reference, figure, targets: { 'accept: controls': atMost(1.08) }, together: true });
  },
};
