/** One webhook with its deliveries, polled while the page is visible. */
import { useEffect, useState } from 'preact/hooks';
import type { DeliveriesPage, Webhook } from '#libs/webhooks/contract';
import type { Api } from '../data/api.ts';
import type { Called } from '../data/calls.ts';
import { useLiveValue } from '../data/live-value.ts';
import { useNextPage } from '../data/next-page.ts';
import { webhooksOf } from './webhook-api.ts';
import { mergeDeliveries } from './webhook-facts.ts';

export interface WebhookSnapshot {
  webhook: Webhook;
  /** ETag of the webhook */
  tag: string | null;
  tries: DeliveriesPage;
}

export function useWebhook(api: Api, webhookId: string) {
  const [onQuiet, setOnQuiet] = useState<(() => void) | null>(null);
  const live = useLiveValue<WebhookSnapshot>(webhookId, {
    isQuiet: onQuiet !== null,
    read: async (signal) => {
      const [{ body, tag }, tries] = await Promise.all([
        webhooksOf(api).read(webhookId, signal),
        webhooksOf(api).deliveries(webhookId, undefined, signal),
      ]);
      return { webhook: body, tag, tries };
    },
    merge: (before, newest) => {
      const tries = mergeDeliveries(before.tries, newest.tries);
      const isSame = newest.tag === before.tag && JSON.stringify(newest.webhook) === JSON.stringify(before.webhook);
      return isSame && tries === before.tries ? before : { ...newest, tries };
    },
  });

  // runs after the effect that stops polling
  useEffect(() => onQuiet?.(), [onQuiet]);
  /** Deletes it. */
  const remove = async () => {
    // a poll after the deletion would report that the webhook does not exist
    await new Promise<void>((resolve) => setOnQuiet(() => resolve));
    try {
      await webhooksOf(api).remove(webhookId);
    } catch (error) {
      setOnQuiet(null);
      throw error;
    }
  };

  const older = useNextPage(
    live,
    ({ tries }) => tries.nextCursor,
    (cursor) => webhooksOf(api).deliveries(webhookId, cursor),
    (now, next) => ({ ...now, tries: { ...next, deliveries: [...now.tries.deliveries, ...next.deliveries] } }),
  );

  /** Takes the response to a change. */
  const putWebhook = ({ body, tag }: Called<Webhook>) => live.change({ webhook: body, tag });
  return { ...live, putWebhook, remove, older };
}
