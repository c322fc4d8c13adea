/** Requests with an access token, to any API that takes requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Site, signToken } from '../stack/client.ts';
import type { Scene } from './scene.ts';

interface Call {
  /** whose organization asks; by default the first */
  site?: Site;
  scope?: string;
  method?: string;
  path: string;
  body?: string;
  type?: string;
  accept?: string;
}

/** Milliseconds: an import and an export may take their time. */
const patience = 60_000;
const pause = 1_000;
/** No outage of a plan lasts so many tries. */
export const mostTries = 90;

/** Rejects where no answer comes. */
export async function callOnce(scene: Scene, call: Call, { baseUrl } = scene.anyApi()): Promise<Response> {
  const { site = scene.site, scope = 'read', method = 'GET', path, body = null, type = 'application/json' } = call;
  const authorization = `Bearer ${signToken(site.organizationId, scene.jwtSecret, scope)}`;
  const headers = {
    authorization,
    ...(body !== null && { 'content-type': type }),
    ...(call.accept && { accept: call.accept }),
  };
  const signal = AbortSignal.any([AbortSignal.timeout(patience), scene.signal]);
  return fetch(baseUrl + path, { method, headers, body, signal });
}

/** The answer with a 2xx; rejects after too many tries. Other refusals than 429 and 503 are breaches. */
export async function callUntilDone(scene: Scene, call: Call): Promise<Buffer> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    scene.signal.throwIfAborted();
    try {
      const response = await callOnce(scene, call);
      const { ok, status } = response;
      const answer = Buffer.from(await response.arrayBuffer());
      if (ok) return answer;
      scene.expect(status === 429 || status === 503, `${call.path} is answered ${status}: ${answer}`);
    } catch {
      // the API, or the connection to it, is away
    }
    await sleep(pause);
  }
  throw new Error(`${call.path} did not succeed in ${mostTries} tries`);
}
