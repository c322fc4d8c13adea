/** Changes a domain. If somebody else has changed it since the form was opened, it shows both and lets one choose. */
import { useState } from 'preact/hooks';
import type { ManagedDomain } from '#libs/contract/manage';
import type { FullRecord } from '#libs/contract/record';
import type { Api } from '../../data/api.ts';
import { ApiError } from '../../data/api-error.ts';
import { type DomainDraft, domainFields, draftOf, isSame } from '../../data/domain-draft.ts';
import type { DomainSnapshot } from '../../data/managed-domain.ts';
import type { Called } from '../../data/webhook-api.ts';
import { Conflict } from './conflict.tsx';
import { DomainForm } from './domain-form.tsx';

interface Props {
  api: Api;
  snapshot: DomainSnapshot;
  /** the newest */
  records: FullRecord[];
  /** put on the list before it is shown */
  added: string[];
  onChanged(changed: Called<ManagedDomain>): void;
  onClose(): void;
}

interface Both {
  mine: DomainDraft;
  theirs: Called<ManagedDomain>;
}

export function ChangeDomain({ api, snapshot, records, added, onChanged, onClose }: Props) {
  // the page goes on being updated below the form
  const [{ domain, tag }] = useState(snapshot);
  const [both, setBoth] = useState<Both | null>(null);
  const close = (changed: Called<ManagedDomain>) => {
    onChanged(changed);
    onClose();
  };
  const save = async (mine: DomainDraft, version: string | null) => {
    try {
      close(await api.manage.changeDomain(domain.domainId, mine, version));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'changed_meanwhile')) throw error;
      const theirs = await api.manage.domain(domain.domainId);
      if (domainFields.every((field) => isSame(field, mine, theirs.body))) close(theirs);
      else setBoth({ mine, theirs });
    }
  };
  if (!both)
    return (
      <DomainForm
        given={draftOf({ ...domain, origins: [...domain.origins, ...added] })}
        records={records}
        action="Save changes"
        save={(mine) => save(mine, tag)}
        onCancel={onClose}
      />
    );
  return (
    <Conflict
      key={both.theirs.tag}
      before={domain}
      mine={both.mine}
      theirs={both.theirs.body}
      save={(chosen) => save(chosen, both.theirs.tag)}
      onDiscard={() => close(both.theirs)}
    />
  );
}
