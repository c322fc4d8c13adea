/** Headers of each message. The service never returns their values, so they are either kept or all entered again. */
import { Check } from '../parts/check.tsx';
import { FieldNote } from '../parts/field.tsx';
import { type Draft, isElsewhere } from './webhook-draft.ts';

interface Props {
  draft: Draft;
  /** names of the stored headers */
  names: string[];
  onChange(changed: Partial<Draft>): void;
  error: string | undefined;
}

export function HeaderFields({ draft, names, onChange, error }: Props) {
  const { keepsHeaders, headers } = draft;
  return (
    <fieldset class="field" data-wrong={error && ''} aria-describedby="webhook-headers-note">
      <legend>Headers</legend>
      {names.length > 0 && (
        <div class="stack gap-6">
          <Check type="radio" name="headers" checked={keepsHeaders} onChange={() => onChange({ keepsHeaders: true })}>
            <span class="anywhere">Keep {names.join(', ')}</span>
          </Check>
          <Check type="radio" name="headers" checked={!keepsHeaders} onChange={() => onChange({ keepsHeaders: false })}>
            Replace them
          </Check>
        </div>
      )}
      {keepsHeaders ? (
        isElsewhere(draft) && (
          <p class="hint" role="status">
            The new URL leads to another host or port, so these headers will be deleted. Replace them to send any.
          </p>
        )
      ) : (
        <textarea
          aria-label="Headers, one per line"
          aria-describedby="webhook-headers-note"
          aria-invalid={error !== undefined}
          rows={3}
          spellcheck={false}
          autocomplete="off"
          placeholder="authorization: Bearer …"
          value={headers}
          onInput={(event) => onChange({ headers: event.currentTarget.value })}
        />
      )}
      <FieldNote id="webhook-headers-note" error={error}>
        {!keepsHeaders && 'Sent with each message, one “NAME: VALUE” per line. Values are not shown again.'}
      </FieldNote>
    </fieldset>
  );
}
