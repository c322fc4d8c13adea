/** The sites that may record for a domain. A missing origin is the most common mistake. */
import type { ManagedDomain } from '#libs/tenants/contract';
import { useLive, useReading } from '../data/query.ts';
import { settingsAddress } from '../data/router.ts';
import { mayManage } from '../data/scopes.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { isolated } from '../parts/isolated.tsx';

/** milliseconds */
const askEvery = 2_000;

export const AllowedOrigins = ({ domainId }: { domainId: string }) =>
  mayManage(useSignedIn().organization) ? (
    <Known domainId={domainId} />
  ) : (
    <p class="hint">
      If the domain has a list of origins, the site’s must be on it. Whoever manages the domain sees the list in its
      settings.
    </p>
  );

function Known({ domainId }: { domainId: string }) {
  const { api } = useSignedIn();
  const read = async (signal: AbortSignal): Promise<ManagedDomain> => (await api.manage.domain(domainId, signal)).body;
  const reading = useReading<ManagedDomain>(domainId, read);
  useLive(reading.value ? domainId : null, { ask: read, onAnswer: reading.put, interval: askEvery });
  const settings = <a href={settingsAddress(domainId)}>settings of this domain</a>;
  const origins = reading.value?.origins;
  if (reading.error)
    return <p class="hint">The list of origins that may record could not be read: see the {settings}.</p>;
  if (!origins) return <p class="hint">Reading which origins may record …</p>;
  if (origins.length === 0)
    return (
      <p class="notice">
        This key works on any website. Restrict it to yours by naming its origin, such as https://www.example.com, in
        the {settings}.
      </p>
    );
  return (
    <p class="notice">
      Records are taken from{' '}
      {origins.map((origin, at) => (
        <span key={origin}>
          {at > 0 && ', '}
          <strong>{isolated(origin)}</strong>
        </span>
      ))}{' '}
      only. Is the site at another address? The site’s origin must be on the list: add it in the {settings}.
    </p>
  );
}
