/** From which sites a domain records: a refused origin is the most common mistake. */
import type { ManagedDomain } from '#libs/contract/manage';
import type { Organization } from '#libs/contract/responses';
import type { Api } from '../../data/api.ts';
import { useReading } from '../../data/reading.ts';
import { settingsAddress } from '../../data/router.ts';
import { mayManage } from '../../data/scopes.ts';
import { escapeInvisible } from '../../format.ts';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
}

export const AllowedOrigins = (props: Props) =>
  mayManage(props.organization) ? (
    <Known {...props} />
  ) : (
    <p class="hint">
      If the domain has a list of origins, the site’s must be on it. Whoever manages the domain sees the list in its
      settings.
    </p>
  );

function Known({ api, domainId }: Props) {
  const reading = useReading<ManagedDomain>(
    domainId,
    async (signal) => (await api.manage.domain(domainId, signal)).body,
  );
  const settings = <a href={settingsAddress(domainId)}>settings of this domain</a>;
  const origins = reading.value?.origins;
  if (reading.error)
    return <p class="hint">The list of origins that may record could not be read: see the {settings}.</p>;
  if (!origins) return <p class="hint">Reading which origins may record …</p>;
  if (origins.length === 0)
    return (
      <p class="notice">
        Any site can record with this key. Name your site’s origin, such as https://www.example.com, in the {settings}.
      </p>
    );
  return (
    <p class="notice">
      Records are taken from{' '}
      {origins.map((origin, at) => (
        <span key={origin}>
          {at > 0 && ', '}
          <strong>
            <bdi>{escapeInvisible(origin)}</bdi>
          </strong>
        </span>
      ))}{' '}
      only. Is the site at another address? The site’s origin must be on the list: add it in the {settings}.
    </p>
  );
}
