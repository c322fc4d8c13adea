/** Failing webhooks, for managers: a warning on the overview. The organization's tabs show how many. */
import { useState } from 'preact/hooks';
import type { Webhook } from '#libs/webhooks/contract';
import { readAll } from '../data/calls.ts';
import { useLive } from '../data/query.ts';
import { webhookAddress, webhooksAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { counted, dateAndTime } from '../format.ts';
import { isolated } from './isolated.tsx';

/** milliseconds */
const readAgainAfter = 60_000;

/** The session's last result, so that the layout does not jump from page to page. */
const known = new WeakMap<object, Webhook[]>();

/** Empty without the scope `manage`, which the list of webhooks needs. */
export function useFailingWebhooks(): Webhook[] {
  const { api, organization } = useSignedIn();
  const [failing, setFailing] = useState(known.get(api) ?? []);
  useLive(mayManage(organization) ? 'webhooks' : null, {
    ask: (signal) =>
      readAll(
        (query) => api.call('get /v1/organization/webhooks', { query, signal }),
        (page) => page.webhooks.filter(({ enabled, failingSince }) => enabled && failingSince !== null),
      ),
    onAnswer: (found) => {
      known.set(api, found);
      setFailing(found);
    },
    interval: readAgainAfter,
    isEager: true,
  });
  return failing;
}

export function FailingWebhooks({ failing }: { failing: Webhook[] }) {
  const [first, ...others] = failing;
  if (!first?.failingSince) return null;
  return (
    <p class="notice notice-bad" role="status">
      {others.length > 0 ? (
        <>
          <a href={webhooksAddress}>{counted(failing.length, 'webhook')}</a> are failing.
        </>
      ) : (
        <>
          The webhook to{' '}
          <a class="anywhere" href={webhookAddress(first.webhookId)}>
            {isolated(first.url)}
          </a>{' '}
          has been failing since {dateAndTime(first.failingSince)} (UTC).
        </>
      )}
    </p>
  );
}
