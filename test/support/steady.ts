/** Records one after the other, in the background, and what became of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from './at-end.ts';
import type { Client } from './client.ts';
import { eventually } from './wait.ts';

export interface Recording {
  client: Client;
  domainId: string;
  apiKey: string;
}

type Recorder = Omit<Recording, 'client'> & { client: Pick<Client, 'record'> };

export interface Recorded {
  id: string;
  domainId: string;
  /** queued or persisted */
  how: string;
}

/** milliseconds */
const pause = 20;

/** Each of `sites` in turn. A record without an acknowledgement fails the test that calls `stop`. */
export function recordSteadily(sites: Recorder[], { every = pause } = {}) {
  const recorded: Recorded[] = [];
  const refused: object[] = [];
  let isRunning = true;
  const work = async (site: Recorder) => {
    const { client, domainId, apiKey } = site;
    while (isRunning) {
      const { status, body } = await client.record(domainId, apiKey, { decision: 'accept_all' });
      if (status === 202) recorded.push({ id: body.id, domainId, how: body.status });
      else refused.push(body);
      await sleep(every);
    }
  };
  const all = Promise.all(sites.map(work));
  // an earlier failure is reported first
  atEnd(() => {
    isRunning = false;
    return all.catch(() => {});
  });
  return {
    recorded,
    /** once so many more of that kind were acknowledged */
    until: (how: 'queued' | 'persisted', count: number, patience?: { within: number }) => {
      const before = recorded.length;
      return eventually(() => {
        const found = recorded.slice(before).filter((each) => each.how === how).length;
        if (found < count) throw new Error(`${found} records were ${how}, not ${count}`);
      }, patience);
    },
    stop: async () => {
      isRunning = false;
      await all;
      if (refused.length > 0) throw new Error(`${refused.length} were refused: ${JSON.stringify(refused[0])}`);
      return recorded;
    },
  };
}
