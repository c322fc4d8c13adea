/** API processes behind a load balancer, and their replacement: one after the other, so that none is asked while it ends. */
import { type Answer, type Client, createClient, request } from './client.ts';
import { type ApiProcess, startApiProcess } from './service.ts';
import type { Tenant } from './stores.ts';

export interface Rolling {
  /** each request goes to the next process; reads are with this token, or with one of its own */
  client: Pick<Client, 'record'>;
  next(): ApiProcess;
  /** asks the next process */
  ask(path: string, init?: RequestInit): Promise<Answer<never>>;
  /** each by one with these settings */
  restart(env: Record<string, string>): Promise<void>;
}

export async function startRolling(tenant: Tenant, env: Record<string, string>, processes = 2): Promise<Rolling> {
  const apis = await Promise.all(Array.from({ length: processes }, () => startApiProcess(env)));
  let turn = 0;
  const next = () => {
    turn += 1;
    const api = apis[turn % apis.length];
    if (!api) throw new Error('no API runs');
    return api;
  };
  const underWay = new Map<ApiProcess, Set<Promise<unknown>>>();
  /** A process gets no SIGTERM before it has answered: one that closes a connection may meet a request on it. */
  const atNext = <Result>(work: (api: ApiProcess) => Promise<Result>): Promise<Result> => {
    const api = next();
    const works = underWay.get(api) ?? new Set();
    underWay.set(api, works);
    const working = work(api).finally(() => works.delete(working));
    works.add(working);
    return working;
  };
  return {
    next,
    client: { record: (...given) => atNext(({ baseUrl }) => createClient(baseUrl, tenant).record(...given)) },
    ask: (path, init) => atNext(({ baseUrl }) => request(baseUrl, path, init)),
    async restart(settings) {
      for (const old of [...apis]) {
        const fresh = await startApiProcess(settings);
        apis.splice(apis.indexOf(old), 1, fresh);
        await Promise.allSettled(underWay.get(old) ?? []);
        await old.stop();
      }
    },
  };
}
