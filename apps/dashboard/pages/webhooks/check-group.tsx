/** Several of a few. */
import type { ComponentChildren } from 'preact';
import { FieldNote } from '../../parts/field-note.tsx';

interface Option<Value extends string> {
  value: Value;
  label: string;
  note?: string;
  isDisabled?: boolean;
}

interface Props<Value extends string> {
  label: string;
  name: string;
  options: Option<Value>[];
  chosen: Value[];
  onChoose(chosen: Value[]): void;
  error: string | undefined;
  note?: ComponentChildren;
  isInline?: boolean;
}

export function CheckGroup<Value extends string>({
  label,
  name,
  options,
  chosen,
  onChoose,
  error,
  note,
  isInline = false,
}: Props<Value>) {
  const noteId = `webhook-${name}-note`;
  // in the order of the options
  const toggle = (value: Value, isOn: boolean) =>
    onChoose(options.map((each) => each.value).filter((each) => (each === value ? isOn : chosen.includes(each))));
  return (
    <fieldset class="webhook-field" data-wrong={error && ''} aria-describedby={noteId}>
      <legend>{label}</legend>
      <div class={isInline ? 'webhook-checks webhook-checks-inline' : 'webhook-checks'}>
        {options.map(({ value, label: text, note: meaning, isDisabled }) => (
          <label key={value} class="webhook-check">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              disabled={isDisabled}
              onChange={(event) => toggle(value, event.currentTarget.checked)}
            />
            <span>
              {text}
              {meaning && <span class="hint">: {meaning}</span>}
            </span>
          </label>
        ))}
      </div>
      <FieldNote id={noteId} error={error}>
        {note}
      </FieldNote>
    </fieldset>
  );
}
