/** A group of checkboxes. */
import type { ComponentChildren } from 'preact';
import { Check } from '../parts/check.tsx';
import { FieldNote } from '../parts/field.tsx';

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
  // keeps the order of the options
  const toggle = (value: Value, isOn: boolean) =>
    onChoose(options.map((each) => each.value).filter((each) => (each === value ? isOn : chosen.includes(each))));
  return (
    <fieldset class="field" data-wrong={error && ''} aria-describedby={noteId}>
      <legend>{label}</legend>
      <div class={isInline ? 'cluster in-line' : 'stack gap-6'}>
        {options.map(({ value, label: text, note: meaning, isDisabled }) => (
          <Check
            key={value}
            checked={chosen.includes(value)}
            disabled={isDisabled}
            onChange={(isOn) => toggle(value, isOn)}
          >
            <span>
              {text}
              {meaning && <span class="hint">: {meaning}</span>}
            </span>
          </Check>
        ))}
      </div>
      <FieldNote id={noteId} error={error}>
        {note}
      </FieldNote>
    </fieldset>
  );
}
