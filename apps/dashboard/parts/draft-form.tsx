/** A form of what somebody makes or changes: a draft, what is wrong beside the field that it is about, save and cancel. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FieldError } from '#libs/base/terms/problem';
import { AssentError } from '#libs/client/assent-error';
import { textOf } from '../data/api-error.ts';
import { Button } from './button.tsx';
import { Failure } from './field.tsx';

/** By field. */
export type Errors = Partial<Record<string, string>>;

interface Drafted<Draft> {
  draft: Draft;
  errors: Errors;
  set(changed: Partial<Draft>): void;
}

interface Props<Draft> {
  given: Draft;
  /** What is sent of a draft, and shown from then on; as it is, if absent. */
  clean?(draft: Draft): Draft;
  /** What is wrong with a clean draft, before it is sent. */
  wrongIn(draft: Draft): Errors;
  /** What the service found wrong. */
  errorsOf(errors: FieldError[]): Errors;
  /** of the button */
  action: string;
  /** Takes a clean draft. */
  save(draft: Draft): Promise<void>;
  /** absent where there is no way back */
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
  // to the first field that something is wrong with
  useEffect(() => {
    if (Object.keys(errors).length > 0)
      form.current?.querySelector<HTMLElement>('[data-wrong] :is(input, textarea)')?.focus();
  }, [errors]);
  // a password manager fills in several fields at once
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
