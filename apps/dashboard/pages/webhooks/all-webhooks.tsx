/** All webhooks, newest first. */
import type { Organization } from '#libs/contract/statistics';
import type { Webhook } from '#libs/contract/webhook';
import type { Api } from '../../data/api.ts';
import { useReading } from '../../data/reading.ts';
import { webhookAddress } from '../../data/router.ts';
import { dateAndTime, escapeInvisible } from '../../format.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { domainsText, typesText } from './coverage.ts';
import { StateTag } from './state-tag.tsx';
import { WebhooksHead } from './webhooks-head.tsx';

export function AllWebhooks({ api, organization }: { api: Api; organization: Organization }) {
  const reading = useReading<Webhook[]>('webhooks', (signal) => readAll(api, signal));
  const webhooks = reading.value;
  const isEmpty = webhooks?.length === 0;
  return (
    <>
      <WebhooksHead organization={organization}>
        {webhooks && !isEmpty && (
          <a class="button primary webhooks-new" href={webhookAddress('new')}>
            New webhook
          </a>
        )}
      </WebhooksHead>
      {reading.error && <ErrorCard error={reading.error} retry={reading.retry} />}
      {!webhooks && !reading.error && <Skeleton kind="table" isSlow={reading.isSlow} />}
      {isEmpty && (
        <section class="card message">
          <h2>No webhooks yet</h2>
          <p>
            A webhook sends signed messages to an address of yours, such as a warehouse or a CRM that needs to know what
            visitors decide.
          </p>
          <a class="button primary" href={webhookAddress('new')}>
            New webhook
          </a>
        </section>
      )}
      {webhooks && !isEmpty && (
        <ul class="card webhooks" aria-label="Webhooks">
          {webhooks.map((webhook) => (
            <li key={webhook.webhookId}>
              <p class="webhooks-url">
                <a href={webhookAddress(webhook.webhookId)}>
                  <bdi>{escapeInvisible(webhook.url)}</bdi>
                </a>
                <StateTag webhook={webhook} />
              </p>
              <p class="muted">
                {typesText(webhook)} · {domainsText(webhook, organization)}
              </p>
              <p class="muted">
                {webhook.lastDeliveredAt === null
                  ? 'Nothing delivered yet'
                  : `Last delivered ${dateAndTime(webhook.lastDeliveredAt)}`}
              </p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Organizations have a few. */
async function readAll(api: Api, signal: AbortSignal): Promise<Webhook[]> {
  const all: Webhook[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await api.webhooks.list(cursor, signal);
    all.push(...page.webhooks);
    cursor = page.nextCursor;
  }
  return all;
}
