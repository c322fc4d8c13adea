/** Requests with an access token, to any API that takes requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { dayOf } from '#libs/base/terms/calendar';
import { within } from '#libs/base/timers';
import { type Site, signToken } from '../stack/sites.ts';
import { need, stoodStill } from './load.ts';
import type { Activity, Scene } from './scene.ts';

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
export const patience = 60_000;
const pause = 1_000;
/** No outage of a plan lasts this long. */
export const mostTries = 90;

/** Rejects if no response comes. Read its body with `bodyOf`. */
export async function callOnce(scene: Scene, call: Call, { baseUrl } = scene.anyApi()): Promise<Response> {
  const { site = scene.site, scope = 'read', method = 'GET', path, body = null } = call;
  const { type = 'application/json', accept = '*/*' } = call;
  const authorization = `Bearer ${signToken(site.organizationId, scene.jwtSecret, scope)}`;
  const headers = { authorization, accept, ...(body !== null && { 'content-type': type }) };
  // AbortSignal.any loses a timeout to the garbage collector in Node 20
  const giveUp = new AbortController();
  const stop = () => giveUp.abort(scene.signal.reason);
  const late = () => {
    scene.signal.removeEventListener('abort', stop);
    giveUp.abort(new Error(`no complete response within ${patience} ms`));
  };
  scene.signal.addEventListener('abort', stop);
  setTimeout(late, patience).unref();
  return fetch(baseUrl + path, { method, headers, body, signal: giveUp.signal });
}

/** Once the headers are there, fetch may lose its signal to the garbage collector. */
export const bodyOf = (response: Response): Promise<Buffer> =>
  within(
    patience,
    response.arrayBuffer().then((bytes) => Buffer.from(bytes)),
  );

/** The body of a 2xx; rejects after too many attempts. Statuses other than 429 and 503 are breaches. */
export async function callUntilDone(scene: Scene, call: Call): Promise<Buffer> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    scene.signal.throwIfAborted();
    try {
      const response = await callOnce(scene, call);
      const { ok, status } = response;
      const body = await bodyOf(response);
      if (ok) return body;
      scene.expect(status === 429 || status === 503, `the status of ${call.path} is ${status}: ${body}`);
    } catch {
      // the API, or the connection to it, is away
    }
    await sleep(pause);
  }
  throw new Error(`${call.path} did not succeed in ${mostTries} attempts`);
}

/** milliseconds */
const deadline = 5_000;

/** `foreseen`: statuses; 0 for no response */
export function readAlong(scene: Scene, foreseen = [0, 200, 503]): Activity {
  const { sites, expect } = scene;
  let count = 0;
  return {
    pause: 100,
    work: async () => {
      const site = need(sites[count % sites.length]);
      const today = dayOf(Date.now());
      const path = need(
        [
          `/v1/consent/${site.domainId}/stats?from=${today}&to=${today}`,
          '/v1/consent/org-stats',
          `/v1/consent/${site.domainId}/records`,
          `/v1/consent/${site.domainId}/feed?limit=10`,
        ][Math.floor(count / sites.length) % 4],
      );
      count += 1;
      const api = scene.anyApi();
      const asked = performance.now();
      const response = await callOnce(scene, { site, path }, api).catch(() => undefined);
      if (response) await bodyOf(response);
      const [status, requestId] = [response?.status ?? 0, response?.headers.get('x-request-id')];
      const milliseconds = Math.round(performance.now() - asked - stoodStill(asked));
      const when = new Date().toISOString();
      const what = `${path} responded ${status} after ${milliseconds} ms at ${when} (request ${requestId})`;
      expect(milliseconds <= deadline || api.wasFrozenSince(asked), `I7: ${what}`);
      expect(foreseen.includes(status), what);
    },
    check: () => console.log(`${count} reads`),
  };
}
