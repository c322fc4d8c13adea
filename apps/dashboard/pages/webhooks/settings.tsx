/** What a webhook is told of, and how it is. */
import type { ComponentChildren } from 'preact';
import type { Organization } from '#libs/contract/statistics';
import type { Webhook } from '#libs/contract/webhook';
import { dateAndTime } from '../../format.ts';
import { decisionsText, domainsText, typesText } from './coverage.ts';
import { StateTag } from './state-tag.tsx';

export function Settings({ webhook, organization }: { webhook: Webhook; organization: Organization }) {
  const decisions = decisionsText(webhook);
  return (
    <dl class="webhook-facts">
      <Fact name="State">
        <StateTag webhook={webhook} />
      </Fact>
      <Fact name="Last delivered">
        {webhook.lastDeliveredAt === null ? 'nothing yet' : `${dateAndTime(webhook.lastDeliveredAt)} UTC`}
      </Fact>
      <Fact name="Created">{dateAndTime(webhook.createdAt)} UTC</Fact>
      <Fact name="Events">{typesText(webhook)}</Fact>
      <Fact name="Domains">
        <bdi>{domainsText(webhook, organization)}</bdi>
      </Fact>
      {decisions !== null && <Fact name="Decisions">{decisions}</Fact>}
    </dl>
  );
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
