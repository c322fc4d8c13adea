/** The result of a check as the service takes it, and its two requests. */
import { type CheckStep, checkSteps, type HostOwner } from '#libs/widget/site-check';
import { matches } from '../forget-cookies.ts';
import type { Settings } from '../settings.ts';
import type { State } from './state.ts';

/** Hosts of a step, and names of each kind. */
const most = 150;
/** Characters: the service takes 64 KiB. */
const longest = 60_000;

/** Without the steps that were not reached. */
export function resultOf({ categories, model }: Settings, { notes }: State) {
  const listed = (name: string): string | null =>
    categories.find(({ services = [] }) =>
      services.some(({ cookies = [] }) => cookies.some((cookie) => matches(cookie, name))),
    )?.id ?? null;
  const about = { origin: location.origin, model: model ?? null, gpc: navigator.globalPrivacyControl === true };
  const within = (limit: number) => ({
    ...about,
    steps: checkSteps.flatMap((step): CheckStep[] => {
      const { hosts, cookies, storage, ...rest } = notes[step];
      if (rest.pages === 0) return [];
      const frequent = [...hosts].sort(([, one], [, other]) => other - one).slice(0, limit);
      const over = (list: string[]) => Math.max(0, list.length - limit);
      return [
        {
          ...rest,
          step,
          hosts: frequent.map(([host, requests]) => ({ host, requests, known: null })),
          moreHosts: hosts.length - frequent.length,
          cookies: cookies.slice(0, limit).map((name) => ({ name, category: listed(name) })),
          storage: storage.slice(0, limit),
          moreNames: over(cookies) + over(storage),
          failed: rest.failed.slice(0, 100),
        },
      ];
    }),
  });
  let result = within(most);
  for (let limit = most; JSON.stringify(result).length > longest && limit > 1; limit /= 2) result = within(limit / 2);
  return result;
}
type Result = ReturnType<typeof resultOf>;

const post = ({ api, domain }: Settings, path: string, body: object): Promise<Response> =>
  fetch(`${api}/v1/consent/${domain}/${path}`, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Empty where the service cannot be reached. */
export async function ownersFor(
  settings: Settings,
  ticket: string,
  { steps }: Result,
): Promise<Map<string, HostOwner>> {
  const hosts = [...new Set(steps.flatMap((step) => step.hosts.map(({ host }) => host)))];
  try {
    const response = await post(settings, 'checks/hosts', { ticket, hosts });
    const found: { hosts: { host: string; known: HostOwner | null }[] } = await response.json();
    return new Map(found.hosts.flatMap(({ host, known }) => (known ? [[host, known]] : [])));
  } catch {
    return new Map();
  }
}

/** The id of the stored check, or why it was not stored. */
export async function store(
  settings: Settings,
  ticket: string,
  { steps, ...about }: Result,
): Promise<{ checkId?: string; detail?: string }> {
  const sent = steps.map((step) => ({ ...step, hosts: step.hosts.map(({ host, requests }) => ({ host, requests })) }));
  try {
    const response = await post(settings, 'checks', { ticket, ...about, steps: sent });
    return await response.json();
  } catch {
    return {
      detail: 'the page may not reach the service, for example because of its Content-Security-Policy (connect-src)',
    };
  }
}
