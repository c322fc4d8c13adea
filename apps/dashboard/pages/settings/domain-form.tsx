/** A domain's name and origins. What is wrong stands next to the field that it is about. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FullRecord } from '#libs/contract/record';
import { ApiError, textOf } from '../../data/api-error.ts';
import { cleanDraft, type DomainDraft, type DomainErrors, errorsByPath, errorsIn } from '../../data/domain-draft.ts';
import { FieldNote } from '../../parts/field-note.tsx';
import { OriginsField } from './origins-field.tsx';
import { OriginsHint } from './origins-hint.tsx';

interface Props {
  given: DomainDraft;
  /** the newest, whose origins may be missing on the list */
  records?: FullRecord[];
  /** of the button */
  action: string;
  /** Takes a clean draft. */
  save(draft: DomainDraft): Promise<void>;
  onCancel(): void;
}

export function DomainForm({ given, records = [], action, save, onCancel }: Props) {
  const [draft, setDraft] = useState(given);
  const [errors, setErrors] = useState<DomainErrors>({});
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // to the first field that something is wrong with
  useEffect(() => {
    if (Object.keys(errors).length > 0) form.current?.querySelector<HTMLElement>('[data-wrong] input')?.focus();
  }, [errors]);

  const submit = async () => {
    const clean = cleanDraft(draft);
    setDraft(clean);
    const wrong = errorsIn(clean);
    setErrors(wrong);
    setFailure(null);
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    try {
      await save(clean);
    } catch (error) {
      const found = errorsByPath(error instanceof ApiError ? error.errors : []);
      setErrors(found);
      if (Object.keys(found).length === 0) setFailure(textOf(error));
    }
    setBusy(false);
  };
  const setOrigins = (origins: string[]) => setDraft({ ...draft, origins });
  return (
    <form
      class="settings-form"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      <div class="settings-field" data-wrong={errors['/name'] && ''}>
        <label>
          Name
          <input
            type="text"
            autocomplete="off"
            placeholder="www.example.com"
            aria-invalid={errors['/name'] !== undefined}
            aria-describedby="domain-name-note"
            value={draft.name}
            onInput={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
          />
        </label>
        <FieldNote id="domain-name-note" error={errors['/name']}>
          For people: usually the website’s host name
        </FieldNote>
      </div>
      <OriginsField origins={draft.origins} errors={errors} onChange={setOrigins} />
      <OriginsHint
        records={records}
        origins={cleanDraft(draft).origins}
        onAdd={(origin) => setOrigins([...cleanDraft(draft).origins, origin])}
      />
      {failure !== null && (
        <p class="field-note" role="alert">
          {failure}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="button primary">
          {action}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
