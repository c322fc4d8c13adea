/** The settings of one domain, and its keys. */
import { useRef, useState } from 'preact/hooks';
import type { MadeKey, ManagedDomain } from '#libs/tenants/contract';
import type { Called } from '../data/calls.ts';
import { widgetAddress } from '../data/router.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { dateAndTime } from '../format.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { useFocusAfter } from '../parts/focus.tsx';
import { isolated } from '../parts/isolated.tsx';
import { LoadingOrError } from '../parts/loading-or-error.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { RefusedOrigins } from '../parts/refused-origins.tsx';
import { Term } from '../parts/term.tsx';
import { ArchiveDialog, Archived } from './archive.tsx';
import { ChangeDomain } from './change-domain.tsx';
import { IgnoredFields } from './ignored-fields.tsx';
import { KeyCard, Keys } from './keys.tsx';
import { useManagedDomain, withDomain } from './managed-domain.ts';
import { useNewestRecords } from './newest-records.ts';
import { Origins, OriginsHint } from './origins.tsx';

export function OneDomain({ domainId }: { domainId: string }) {
  // shown until it is copied or the page is left
  const [made, setMade] = useState<MadeKey | null>(null);
  const { api, organization, onOrganization } = useSignedIn();
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
  // while a dialog is open, nothing outside it can have the focus
  const isArchived = snapshot && asks !== 'archive' ? snapshot.domain.archivedAt !== null : undefined;
  useFocusAfter(isChanging, (is) => page.current?.querySelector<HTMLElement>(is ? 'form input' : '.settings-change'));
  useFocusAfter(isArchived, (is) => page.current?.querySelector<HTMLElement>(is ? '#archived-title' : '.settings-key'));
  const known = organization.domains.find((each) => each.domainId === domainId);
  const name = snapshot?.domain.name ?? known?.name ?? domainId;
  const head = (
    <PageHead
      title={name}
      note={
        <>
          Name, <Term of="origin" text="origins" />, validity and keys. Times are UTC.
        </>
      }
      domain={{ domainId, page: 'settings' }}
      live={(snapshot && reading.live) || undefined}
    />
  );
  // the same element as below: a new page head would take the focus, as after navigation
  if (!snapshot)
    return (
      <div class="stack" ref={page}>
        {head}
        <LoadingOrError reading={reading} kind="table" />
      </div>
    );
  const { domain, keys, refused, ignored } = snapshot;
  const onChanged = (changed: Called<ManagedDomain>) => {
    reading.putDomain(changed);
    onOrganization(withDomain(organization, changed.body));
  };
  const onDone = () => {
    setMade(null);
    page.current?.querySelector<HTMLElement>('.settings-key')?.focus();
  };
  const fresh = made && keys.find(({ prefix }) => prefix === made.prefix);
  return (
    <div class="stack" ref={page}>
      {head}
      {domain.archivedAt !== null && (
        <Archived domainId={domainId} keys={keys} archivedAt={domain.archivedAt} onRestored={onChanged} />
      )}
      {made && fresh && <KeyCard made={made} revokedAt={fresh.revokedAt} domainId={domainId} onDone={onDone} />}
      {domain.archivedAt === null && keys.length === 0 && <FirstSteps domainId={domainId} />}
      <section class="card stack gap-16" aria-label="Domain">
        {isChanging ? (
          <ChangeDomain
            snapshot={snapshot}
            records={records}
            added={added}
            onChanged={onChanged}
            onClose={() => setAsks(null)}
          />
        ) : (
          <>
            <Known domain={domain} />
            {domain.archivedAt === null && (
              <>
                <RefusedOrigins refused={refused} origins={domain.origins} onAdd={change} />
                <OriginsHint records={records} origins={domain.origins} onAdd={change} />
              </>
            )}
            <div class="actions tight">
              <Button text="Change…" class="settings-change" onClick={() => change()} />
              {domain.archivedAt === null && (
                <Button text="Archive…" kind="danger" class="at-end" onClick={() => setAsks('archive')} />
              )}
            </div>
          </>
        )}
      </section>
      <IgnoredFields ignored={ignored} />
      <Keys
        domain={domain}
        keys={keys}
        onMade={(key) => {
          const { apiKey: _, ...shown } = key;
          reading.putKey(shown);
          setMade(key);
        }}
        onRevoked={reading.putKey}
      />
      {asks === 'archive' && (
        <ArchiveDialog
          domain={domain}
          keys={keys}
          onArchived={async (changed) => {
            onChanged(changed);
            // archiving revokes the keys too; if this read fails, the next poll shows it
            await reading.reload().catch(() => {});
          }}
          onClose={() => setAsks(null)}
        />
      )}
    </div>
  );
}

const Known = ({ domain }: { domain: ManagedDomain }) => {
  const { domainId, name, origins, createdAt, validMonths, policyVersion } = domain;
  return (
    <Facts class="settings-facts">
      <Fact name="Name">{isolated(name)}</Fact>
      <Fact name="Id">
        <code>{domainId}</code>
      </Fact>
      <Fact name="Created">{dateAndTime(createdAt)} UTC</Fact>
      <Fact name="Permissions are valid">{validMonths === null ? 'Until withdrawn' : `${validMonths} months`}</Fact>
      <Fact name="Policy version">{policyVersion === null ? 'Any' : isolated(policyVersion)}</Fact>
      <Fact name="Origins that may record" isWide>
        <Origins origins={origins} />
      </Fact>
    </Facts>
  );
};

/** Next steps after creating a domain. */
const FirstSteps = ({ domainId }: { domainId: string }) => (
  <section class="card message" aria-labelledby="first-steps-title">
    <h2 id="first-steps-title">Next: the banner</h2>
    <p>Choose how it looks, publish it, and copy the tag into the site. All of it is on one page.</p>
    <ButtonLink text="Set up the banner" kind="primary" href={widgetAddress(domainId)} />
  </section>
);
