/** What is known of a domain. */
import type { ManagedDomain } from '#libs/contract/manage';
import { dateAndTime, escapeInvisible } from '../../format.ts';
import { Origins } from './origins.tsx';

export const DomainFacts = ({ domain: { domainId, name, origins, createdAt } }: { domain: ManagedDomain }) => (
  <dl class="settings-facts">
    <div>
      <dt>Name</dt>
      <dd>
        <bdi>{escapeInvisible(name)}</bdi>
      </dd>
    </div>
    <div>
      <dt>Id</dt>
      <dd>
        <code>{domainId}</code>
      </dd>
    </div>
    <div>
      <dt>Created</dt>
      <dd>{dateAndTime(createdAt)} UTC</dd>
    </div>
    <div class="settings-wide">
      <dt>Origins that may record</dt>
      <dd>
        <Origins origins={origins} />
      </dd>
    </div>
  </dl>
);
