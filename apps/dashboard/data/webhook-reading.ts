/** One webhook with its deliveries, kept up to date while the page is visible. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DeliveriesPage, Webhook } from '#libs/contract/webhook';
import type { Api } from './api.ts';
import { type LiveState, useLive } from './live.ts';
import { type Reading, useReading } from './reading.ts';
import { mergeDeliveries } from './webhooks.ts';

export interface WebhookSnapshot {
  webhook: Webhook;
  /** of this version */
  tag: string | null;
  tries: DeliveriesPage;
}

export interface WebhookReading extends Reading<WebhookSnapshot> {
  live: LiveState | null;
  /** What a change answered. */
  putWebhook(changed: { body: Webhook; tag: string | null }): void;
  /** Deletes it. */
  remove(): Promise<void>;
  older: OlderTries;
}

export interface OlderTries {
  isLoading: boolean;
  hasFailed: boolean;
  load(): void;
}

export function useWebhook(api: Api, webhookId: string): WebhookReading {
  const read = async (signal: AbortSignal): Promise<WebhookSnapshot> => {
    const [{ body, tag }, tries] = await Promise.all([
      api.webhooks.read(webhookId, signal),
      api.webhooks.deliveries(webhookId, undefined, signal),
    ]);
    return { webhook: body, tag, tries };
  };
  const reading = useReading(webhookId, read);
  const latest = useRef(reading.value);
  latest.current = reading.value;
  const put = (value: WebhookSnapshot) => {
    latest.current = value;
    reading.put(value);
  };

  // an answer that was asked for before a change would show the state before it
  const changes = useRef(0);
  const [onQuiet, setOnQuiet] = useState<(() => void) | null>(null);
  const live = useLive(reading.value && !onQuiet ? webhookId : null, {
    ask: async (signal) => ({ asOf: changes.current, newest: await read(signal) }),
    onAnswer: ({ asOf, newest }) => {
      const before = latest.current;
      if (!before || asOf !== changes.current) return;
      const tries = mergeDeliveries(before.tries, newest.tries);
      const isSame = newest.tag === before.tag && JSON.stringify(newest.webhook) === JSON.stringify(before.webhook);
      if (!isSame || tries !== before.tries) put({ ...newest, tries });
    },
  });

  // after the effect that stops the poll
  useEffect(() => onQuiet?.(), [onQuiet]);
  const remove = async () => {
    // asked meanwhile, the service would answer that there is no such webhook
    await new Promise<void>((resolve) => setOnQuiet(() => resolve));
    try {
      await api.webhooks.remove(webhookId);
    } catch (error) {
      setOnQuiet(null);
      throw error;
    }
  };

  const [older, setOlder] = useState({ isLoading: false, hasFailed: false });
  const load = () => {
    const cursor = latest.current?.tries.nextCursor;
    if (!cursor || older.isLoading) return;
    setOlder({ isLoading: true, hasFailed: false });
    api.webhooks.deliveries(webhookId, cursor).then(
      ({ deliveries, nextCursor }) => {
        const now = latest.current;
        // unless the list has started over meanwhile
        if (now?.tries.nextCursor === cursor)
          put({ ...now, tries: { deliveries: [...now.tries.deliveries, ...deliveries], nextCursor } });
        setOlder({ isLoading: false, hasFailed: false });
      },
      () => setOlder({ isLoading: false, hasFailed: true }),
    );
  };

  return {
    ...reading,
    live,
    putWebhook: ({ body, tag }) => {
      changes.current += 1;
      if (latest.current) put({ ...latest.current, webhook: body, tag });
    },
    remove,
    older: { ...older, load },
  };
}
