import type { ComponentChildren, InputHTMLAttributes } from 'preact';

/** A form field with a hint and its error. */

interface NoteProps {
  id: string;
  error: string | undefined;
  children?: ComponentChildren;
}

/** The hint or error beside a field of any kind. */
export const FieldNote = ({ id, error, children }: NoteProps) => (
  <div id={id}>{error === undefined ? children && <p class="hint">{children}</p> : <Failure>{error}</Failure>}</div>
);

type FieldProps = InputHTMLAttributes & {
  label: string;
  noteId: string;
  error: string | undefined;
  note: string;
  onText(text: string): void;
};

export const Field = ({ label, noteId, error, note, onText, ...given }: FieldProps) => (
  <div class="field" data-wrong={error && ''}>
    <label>
      {label}
      <input
        autocomplete="off"
        {...given}
        aria-invalid={error !== undefined}
        aria-describedby={noteId}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
    <FieldNote id={noteId} error={error}>
      {note}
    </FieldNote>
  </div>
);

/** An error that screen readers announce at once; nothing without one. */
export const Failure = ({ children }: { children: string }) =>
  children && (
    <p class="field-note" role="alert">
      {children}
    </p>
  );

interface DayProps {
  label: string;
  /** puts the label beside the field, and makes the field required */
  isInRow?: boolean;
  value: string;
  latest?: string;
  onDay(day: string): void;
}

export const DayField = ({ label, isInRow = false, value, latest = '2100-12-31', onDay }: DayProps) => (
  <label class={isInRow ? 'in-row' : undefined}>
    {label}
    <input
      type="date"
      min="2000-01-01"
      max={latest}
      required={isInRow}
      value={value}
      onInput={(event) => onDay(event.currentTarget.value)}
    />
  </label>
);

interface SelectProps<Value extends string | number> {
  label: ComponentChildren;
  options: readonly { value: Value; name: ComponentChildren }[];
  chosen: Value;
  onChoose(value: string): void;
  class?: string;
}

export function Select<const Value extends string | number>(props: SelectProps<Value>) {
  const { label, options, chosen, onChoose, class: own } = props;
  return (
    <label class={own}>
      {label}
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface VisitorProps {
  class?: string;
  label?: string;
  value: string;
  onType(text: string): void;
}

/** A field for a visitor's id. */
export const VisitorField = ({ class: className, label = 'Visitor', value, onType }: VisitorProps) => (
  <label class={className}>
    {label}
    <input
      type="search"
      maxLength={128}
      placeholder="Full id"
      spellcheck={false}
      value={value}
      onInput={(event) => onType(event.currentTarget.value)}
    />
  </label>
);
