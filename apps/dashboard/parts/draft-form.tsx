/** A form for creating or changing something: a draft, errors beside their fields, save and cancel. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FieldError } from '#libs/base/terms/problem';
import { AssentError } from '#libs/client/assent-error';
import { textOf } from '../data/api-error.ts';
import { Button } from './button.tsx';
import { Failure } from './field.tsx';

/** Errors by field. */
export type Errors = Partial<Record<string, string>>;

interface Drafted<Draft> {
  draft: Draft;
  errors: Errors;
  set(changed: Partial<Draft>): void;
}

interface Props<Draft> {
  given: Draft;
  /** Normalizes a draft before it is sent; the form shows the result. Default: unchanged. */
  clean?(draft: Draft): Draft;
  /** Validates a normalized draft before it is sent. */
  wrongIn(draft: Draft): Errors;
  /** Errors from the service's response. */
  errorsOf(errors: FieldError[]): Errors;
  /** the button's label */
  action: string;
  /** Sends a normalized draft. */
  save(draft: Draft): Promise<void>;
  /** absent if there is nothing to cancel */
  onCancel?: () => void;
  children(drafted: Drafted<Draft>): ComponentChildren;
}

export function DraftForm<Draft extends object>(props: Props<Draft>) {
  const { given, clean = (draft) => draft, wrongIn, errorsOf, action, save, onCancel, children } = props;
  const [draft, setDraft] = useState(given);
  const [errors, setErrors] = useState<Errors>({});
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // focus the first field with an error
  useEffect(() => {
    if (Object.keys(errors).length > 0)
      form.current?.querySelector<HTMLElement>('[data-wrong] :is(input, textarea)')?.focus();
  }, [errors]);
  // a password manager fills in several fields in one event
  const set = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const submit = async () => {
    const cleaned = clean(draft);
    const wrong = wrongIn(cleaned);
    setDraft(cleaned);
    setErrors(wrong);
    setFailure('');
    if (Object.keys(wrong).length > 0) return;
    setBusy(true);
    try {
      await save(cleaned);
    } catch (error) {
      const found = errorsOf(error instanceof AssentError ? error.errors : []);
      setErrors(found);
      if (Object.keys(found).length === 0) setFailure(textOf(error));
    }
    setBusy(false);
  };
  return (
    <form
      class="form full"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      {children({ draft, errors, set })}
      <Failure>{failure}</Failure>
      <div class="actions">
        <Button text={action} type="submit" kind="primary" />
        {onCancel && <Button text="Cancel" onClick={onCancel} />}
      </div>
    </form>
  );
}
