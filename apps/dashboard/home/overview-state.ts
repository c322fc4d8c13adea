/** The state of the home page: how it is read and kept up to date. */
import { useRef } from 'preact/hooks';
import type { OrgStats } from '#libs/log/contract';
import type { Organization } from '#libs/stats/contract';
import type { Api } from '../data/api.ts';
import { useLive } from '../data/query.ts';
import { gapLimit, mergeLatest, pollLimit, type Stream, startStream } from './stream.ts';

export interface OverviewState {
  stats: OrgStats;
  stream: Stream;
}

/** records in the first response */
const firstPage = 10;
/** Every nth poll reads the organization instead: its names, domains and plan. */
const organizationEvery = 60;
const organizationEveryWithoutDomains = 2;

export async function readOverview(api: Api, signal: AbortSignal): Promise<OverviewState> {
  const stats = await api.orgStats({ limit: firstPage }, signal);
  return { stats, stream: startStream(stats) };
}

/** Polls once there is a first state. The service reads records only when a total has changed. */
export function useOverviewPoll(
  api: Api,
  state: OverviewState | undefined,
  hasDomains: boolean,
  update: { put(state: OverviewState): void; onOrganization(organization: Organization): void },
) {
  const polls = useRef(0);
  const every = hasDomains ? organizationEvery : organizationEveryWithoutDomains;
  return useLive<Organization | { stats: OrgStats | null; asked: number }>(state ? 'home' : null, {
    ask: async (signal) => {
      polls.current += 1;
      if (polls.current % every === 0) return api.organization(signal);
      const asked = state?.stream.hasGap ? gapLimit : pollLimit;
      return { stats: await api.orgStatsIfChanged({ limit: asked }, signal), asked };
    },
    onAnswer: (answer) => {
      if ('plan' in answer) return update.onOrganization(answer);
      if (!state || !answer.stats) return;
      update.put({ stats: answer.stats, stream: mergeLatest(state.stream, answer.stats, answer.asked) });
    },
  });
}
