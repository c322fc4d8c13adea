/** API processes behind a load balancer, and their replacement: one after the other, so that none is asked while it ends. */
import { type Client, createClient } from './client.ts';
import { type Api, startApi } from './service.ts';
import type { Tenant } from './stores.ts';

export interface Rolling {
  /** each request goes to the next process; reads are with this token, or with one of its own */
  client: Pick<Client, 'record'>;
  next(): Api;
  /** each by one with these settings */
  restart(env: Record<string, string>): Promise<void>;
}

export async function startRolling(tenant: Tenant, env: Record<string, string>, processes = 2): Promise<Rolling> {
  const apis = await Promise.all(Array.from({ length: processes }, () => startApi(env)));
  let turn = 0;
  const next = () => {
    turn += 1;
    const api = apis[turn % apis.length];
    if (!api) throw new Error('no API runs');
    return api;
  };
  return {
    next,
    client: { record: (...request) => createClient(next().baseUrl, tenant).record(...request) },
    async restart(settings) {
      for (const old of [...apis]) {
        const fresh = await startApi(settings);
        apis.splice(apis.indexOf(old), 1, fresh);
        await old.stop();
      }
    },
  };
}
