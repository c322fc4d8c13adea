/** Requests with an access token, to any API, repeated until they succeed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Site, signToken } from '../../stack/client.ts';
import type { Scene } from '../drill.ts';
import { anyOf } from './clients.ts';
import type { Supervised } from './processes.ts';

interface Call {
  /** whose organization asks */
  site: Site;
  scope: string;
  method?: string;
  path: string;
  body?: string;
  type?: string;
}

/** Milliseconds: an import and an export may take their time. */
const patience = 60_000;
const pause = 1_000;
/** No outage of a plan lasts so many tries. */
export const mostTries = 90;

/** Rejects where no answer comes. */
export const callOnce = (scene: Scene, baseUrl: string, call: Call): Promise<Response> => {
  const { site, scope, method = 'GET', path, body = null, type = 'application/json' } = call;
  const authorization = `Bearer ${signToken(site.organizationId, scene.jwtSecret, scope)}`;
  const headers = { authorization, ...(body !== null && { 'content-type': type }) };
  const signal = AbortSignal.any([AbortSignal.timeout(patience), scene.signal]);
  return fetch(baseUrl + path, { method, headers, body, signal });
};

/** The answer with a 2xx, as JSON; rejects after too many tries. Other refusals than 429 and 503 are breaches. */
export async function callUntilDone(scene: Scene, apis: Supervised[], call: Call): Promise<Record<string, unknown>> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    scene.signal.throwIfAborted();
    try {
      const response = await callOnce(scene, anyOf(apis).baseUrl(), call);
      const { ok, status } = response;
      const text = await response.text();
      if (ok) return JSON.parse(text);
      scene.expect(status === 429 || status === 503, `${call.path} is answered ${status}: ${text}`);
    } catch {
      // the API, or the connection to it, is away
    }
    await sleep(pause);
  }
  throw new Error(`${call.path} did not succeed in ${mostTries} tries`);
}
