/** The form for changing a domain. If somebody else has changed it since, both versions are shown to choose from. */

import { useState } from 'preact/hooks';
import { AssentError } from '#libs/client/assent-error';
import type { FullRecord } from '#libs/record/contract';
import type { ManagedDomain } from '#libs/tenants/contract';
import { useAttempt } from '../data/attempt.ts';
import type { Called } from '../data/calls.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { Button } from '../parts/button.tsx';
import { Failure } from '../parts/field.tsx';
import { FocusedTitle } from '../parts/focus.tsx';
import { isolated } from '../parts/isolated.tsx';
import { changedFields, type DomainDraft, type DomainField, draftOf, isMine } from './domain-draft.ts';
import { DomainForm } from './domain-form.tsx';
import { type DomainSnapshot, isPublished } from './managed-domain.ts';
import { Origins } from './origins.tsx';

interface Props {
  snapshot: DomainSnapshot;
  /** the newest version */
  records: FullRecord[];
  /** origins that are added to the list when the form opens */
  added: string[];
  onChanged(changed: Called<ManagedDomain>): void;
  onClose(): void;
}

interface Both {
  mine: DomainDraft;
  theirs: Called<ManagedDomain>;
}

export function ChangeDomain({ snapshot, records, added, onChanged, onClose }: Props) {
  const { api } = useSignedIn();
  // the page continues to update below the form
  const [{ domain, tag, keys }] = useState(snapshot);
  const [both, setBoth] = useState<Both | null>(null);
  const close = (changed: Called<ManagedDomain>) => {
    onChanged(changed);
    onClose();
  };
  const save = async (mine: DomainDraft, version: string | null) => {
    try {
      close(await api.manage.changeDomain(domain.domainId, mine, version));
    } catch (error) {
      if (!(error instanceof AssentError && error.code === 'changed_meanwhile')) throw error;
      const theirs = await api.manage.domain(domain.domainId);
      if (changedFields(mine, theirs.body).length === 0) close(theirs);
      else setBoth({ mine, theirs });
    }
  };
  if (!both)
    return (
      <DomainForm
        given={draftOf({ ...domain, origins: [...domain.origins, ...added] }, isPublished(keys))}
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

interface ConflictProps {
  /** the version that both changes are based on */
  before: ManagedDomain;
  mine: DomainDraft;
  theirs: ManagedDomain;
  save(chosen: DomainDraft): Promise<void>;
  onDiscard(): void;
}

type Side = 'mine' | 'theirs';

/** The two versions of a domain that two people have changed at the same time. */
function Conflict({ before, mine, theirs, save, onDiscard }: ConflictProps) {
  const sideOf = (field: DomainField): Side => (isMine(field, before, mine) ? 'mine' : 'theirs');
  const fields = changedFields(mine, theirs);
  const [sides, setSides] = useState<Partial<Record<DomainField, Side>>>({});
  const chosen = (field: DomainField): Side => sides[field] ?? sideOf(field);
  const { failure, attempt } = useAttempt();
  const of = { mine, theirs };
  return (
    <form
      class="form"
      aria-labelledby="conflict-title"
      onSubmit={(event) => {
        event.preventDefault();
        attempt(() =>
          save({ ...mine, ...Object.fromEntries(fields.map((field) => [field, of[chosen(field)][field]])) }),
        );
      }}
    >
      <div class="stack gap-6 settings-conflict">
        <FocusedTitle id="conflict-title">Somebody else changed this domain meanwhile</FocusedTitle>
        <p>
          Nothing of yours is saved yet. Choose what holds.
          {theirs.archivedAt !== null && ' The domain is archived now, and stays so.'}
        </p>
      </div>
      {fields.map((field) => (
        <fieldset key={field} class="field gap-8">
          <legend>{names[field]}</legend>
          {(['theirs', 'mine'] as const).map((side) => (
            <label key={side} class="settings-choice anywhere">
              <input
                type="radio"
                name={`conflict-${field}`}
                checked={chosen(field) === side}
                onChange={() => setSides({ ...sides, [field]: side })}
              />
              <span class="muted">{side === 'theirs' ? 'Theirs' : 'Yours'}</span>
              {field === 'origins' ? <Origins origins={of[side].origins} /> : isolated(`${of[side][field] ?? '–'}`)}
            </label>
          ))}
        </fieldset>
      ))}
      <Failure>{failure}</Failure>
      <div class="actions">
        <Button text="Save this choice" type="submit" kind="primary" />
        <Button text="Discard my changes" onClick={onDiscard} />
      </div>
    </form>
  );
}

const names: Record<DomainField, string> = {
  ...{ name: 'Name', origins: 'Origins' },
  ...{ validMonths: 'Months that permissions are valid', policyVersion: 'Policy version' },
};
