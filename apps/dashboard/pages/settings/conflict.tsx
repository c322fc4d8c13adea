/** Two people have changed the same domain: what each of them has, to choose from. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ManagedDomain } from '#libs/contract/manage';
import { textOf } from '../../data/api-error.ts';
import { type DomainDraft, type DomainField, domainFields, isMine, isSame } from '../../data/domain-draft.ts';
import { escapeInvisible } from '../../format.ts';
import { Origins } from './origins.tsx';

interface Props {
  /** what both have started from */
  before: ManagedDomain;
  mine: DomainDraft;
  theirs: ManagedDomain;
  save(chosen: DomainDraft): Promise<void>;
  onDiscard(): void;
}

type Side = 'mine' | 'theirs';

export function Conflict({ before, mine, theirs, save, onDiscard }: Props) {
  const sideOf = (field: DomainField): Side => (isMine(field, before, mine) ? 'mine' : 'theirs');
  const [sides, setSides] = useState({ name: sideOf('name'), origins: sideOf('origins') });
  const [state, setState] = useState<'asks' | 'busy' | { failure: string }>('asks');
  const title = useRef<HTMLHeadingElement>(null);
  // what had the focus is gone
  useEffect(() => title.current?.focus(), []);
  const of = { mine, theirs };
  const submit = async () => {
    setState('busy');
    try {
      await save({ name: of[sides.name].name, origins: of[sides.origins].origins });
    } catch (error) {
      setState({ failure: textOf(error) });
    }
  };
  return (
    <form
      class="settings-form"
      aria-labelledby="conflict-title"
      onSubmit={(event) => {
        event.preventDefault();
        if (state !== 'busy') void submit();
      }}
    >
      <div class="settings-conflict">
        <h2 id="conflict-title" ref={title} tabIndex={-1}>
          Somebody else changed this domain meanwhile
        </h2>
        <p>
          Nothing of yours is saved yet. Choose what holds.
          {theirs.archivedAt !== null && ' The domain is archived now, and stays so.'}
        </p>
      </div>
      {domainFields
        .filter((field) => !isSame(field, mine, theirs))
        .map((field) => (
          <fieldset key={field} class="settings-field">
            <legend>{names[field]}</legend>
            {(['theirs', 'mine'] as const).map((side) => (
              <label key={side} class="settings-choice">
                <input
                  type="radio"
                  name={`conflict-${field}`}
                  checked={sides[field] === side}
                  onChange={() => setSides({ ...sides, [field]: side })}
                />
                <span class="settings-side">{side === 'theirs' ? 'Theirs' : 'Yours'}</span>
                {field === 'name' ? (
                  <bdi>{escapeInvisible(of[side].name)}</bdi>
                ) : (
                  <Origins origins={of[side].origins} />
                )}
              </label>
            ))}
          </fieldset>
        ))}
      {typeof state === 'object' && (
        <p class="field-note" role="alert">
          {state.failure}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="button primary">
          Save this choice
        </button>
        <button type="button" class="button" onClick={onDiscard}>
          Discard my changes
        </button>
      </div>
    </form>
  );
}

const names: Record<DomainField, string> = { name: 'Name', origins: 'Origins' };
