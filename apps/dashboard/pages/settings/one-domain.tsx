/** The settings of one domain, and its keys. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MadeKey, ManagedDomain } from '#libs/contract/manage';
import type { Organization } from '#libs/contract/statistics';
import type { Api } from '../../data/api.ts';
import { useManagedDomain, withDomain } from '../../data/managed-domain.ts';
import { useNewestRecords } from '../../data/newest-records.ts';
import type { Called } from '../../data/webhook-api.ts';
import { ErrorCard } from '../../parts/error-card.tsx';
import { LiveBadge } from '../../parts/live-badge.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RefusedOrigins } from '../../parts/refused-origins.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { ArchiveDialog } from './archive-dialog.tsx';
import { Archived } from './archived.tsx';
import { ChangeDomain } from './change-domain.tsx';
import { DomainFacts } from './domain-facts.tsx';
import { FirstSteps } from './first-steps.tsx';
import { KeyCard } from './key-card.tsx';
import { Keys } from './keys.tsx';
import { OriginsHint } from './origins-hint.tsx';

interface Props {
  api: Api;
  organization: Organization;
  domainId: string;
  /** shown until somebody has copied it or leaves the page */
  made: MadeKey | null;
  onMade(made: MadeKey | null): void;
  onOrganization(organization: Organization): void;
}

export function OneDomain({ api, organization, domainId, made, onMade, onOrganization }: Props) {
  const reading = useManagedDomain(api, domainId);
  const [asks, setAsks] = useState<'change' | 'archive' | null>(null);
  const [added, setAdded] = useState<string[]>([]);
  const page = useRef<HTMLDivElement>(null);
  const snapshot = reading.value;
  const records = useNewestRecords(api, organization, domainId, snapshot?.keys ?? []);
  const isChanging = asks === 'change';
  const change = (...origins: string[]) => {
    setAdded(origins);
    setAsks('change');
  };
  // while the dialog is open, nothing outside it can have the focus
  const isArchived = snapshot && asks !== 'archive' ? snapshot.domain.archivedAt !== null : undefined;
  useFocusAfter(isChanging, (is) => page.current?.querySelector<HTMLElement>(is ? 'form input' : '.settings-change'));
  useFocusAfter(isArchived, (is) => page.current?.querySelector<HTMLElement>(is ? '#archived-title' : '.settings-key'));
  const known = organization.domains.find((each) => each.domainId === domainId);
  const name = snapshot?.domain.name ?? known?.name ?? domainId;
  const head = (
    <PageHead
      title={name}
      note="Name, origins and keys. Times are UTC."
      domain={{ domainId, page: 'settings', organization }}
    >
      {snapshot && reading.live && <LiveBadge state={reading.live} />}
    </PageHead>
  );
  // in the same element as below: a head that is made anew takes the focus, as after navigation
  if (!snapshot)
    return (
      <div class="stack" ref={page}>
        {head}
        {reading.error ? (
          <ErrorCard error={reading.error} retry={reading.retry} />
        ) : (
          <Skeleton kind="table" isSlow={reading.isSlow} />
        )}
      </div>
    );
  const { domain, keys, refused } = snapshot;
  const onChanged = (changed: Called<ManagedDomain>) => {
    reading.putDomain(changed);
    onOrganization(withDomain(organization, changed.body));
  };
  const onDone = () => {
    onMade(null);
    page.current?.querySelector<HTMLElement>('.settings-key')?.focus();
  };
  const fresh = made && keys.find(({ prefix }) => prefix === made.prefix);
  return (
    <div class="stack" ref={page}>
      {head}
      {domain.archivedAt !== null && (
        <Archived api={api} domainId={domainId} archivedAt={domain.archivedAt} onRestored={onChanged} />
      )}
      {made && fresh && <KeyCard made={made} revokedAt={fresh.revokedAt} domainId={domainId} onDone={onDone} />}
      {domain.archivedAt === null && keys.length === 0 && <FirstSteps domainId={domainId} />}
      <section class="card settings-card" aria-label="Domain">
        {isChanging ? (
          <ChangeDomain
            api={api}
            snapshot={snapshot}
            records={records}
            added={added}
            onChanged={onChanged}
            onClose={() => setAsks(null)}
          />
        ) : (
          <>
            <DomainFacts domain={domain} />
            {domain.archivedAt === null && (
              <>
                <RefusedOrigins refused={refused} origins={domain.origins} onAdd={change} />
                <OriginsHint records={records} origins={domain.origins} onAdd={change} />
              </>
            )}
            <div class="actions settings-actions">
              <button type="button" class="button settings-change" onClick={() => change()}>
                Change…
              </button>
              {domain.archivedAt === null && (
                <button type="button" class="button danger" onClick={() => setAsks('archive')}>
                  Archive…
                </button>
              )}
            </div>
          </>
        )}
      </section>
      <Keys
        api={api}
        domain={domain}
        keys={keys}
        onMade={(key) => {
          const { apiKey: _, ...shown } = key;
          reading.putKey(shown);
          onMade(key);
        }}
        onRevoked={reading.putKey}
      />
      {asks === 'archive' && (
        <ArchiveDialog
          api={api}
          domain={domain}
          keys={keys}
          onArchived={async (changed) => {
            onChanged(changed);
            // its keys are revoked too; if this fails, the next poll says so
            await reading.reload().catch(() => {});
          }}
          onClose={() => setAsks(null)}
        />
      )}
    </div>
  );
}

/** Where what had the focus is gone with this change. Undefined waits. */
function useFocusAfter(is: boolean | undefined, find: (is: boolean) => HTMLElement | null | undefined): void {
  const before = useRef(is);
  useEffect(() => {
    if (is === undefined) return;
    const isChanged = before.current !== undefined && before.current !== is;
    before.current = is;
    if (isChanged && document.activeElement === document.body) find(is)?.focus();
  }, [is]);
}
