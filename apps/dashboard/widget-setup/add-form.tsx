/** A text field with a button that adds an entry. */
import { useId, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { FieldNote } from '../parts/field.tsx';

interface Props {
  label: string;
  placeholder: string;
  /** the button's label */
  action: string;
  note: string;
  /** the reason why the text cannot be added; undefined if it can */
  troubleOf(text: string): string | undefined;
  onAdd(text: string): void;
}

export function AddForm({ label, placeholder, action, note, troubleOf, onAdd }: Props) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string>();
  const noteId = useId();
  return (
    <form
      class="beside bottom"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const trouble = troubleOf(text);
        setError(trouble);
        if (trouble !== undefined) return;
        onAdd(text);
        setText('');
      }}
    >
      <label>
        {label}
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder={placeholder}
          aria-invalid={error !== undefined}
          aria-describedby={noteId}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value.trim())}
        />
      </label>
      <Button text={action} type="submit" />
      <FieldNote id={noteId} error={error}>
        {note}
      </FieldNote>
    </form>
  );
}
