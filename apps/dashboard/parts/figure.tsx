/** A card with one large number, its name and a comparison. */
import './figure.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export function Figure({
  name,
  value,
  note,
  children,
}: {
  name: ComponentChildren;
  value: string;
  note?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <section class="card figure">
      <h2>{name}</h2>
      <HighlightOnChange value={value} />
      {note && <p class="figure-note">{note}</p>}
      {children}
    </section>
  );
}

/** Lights up for a moment when it changes, so that the change is noticed from elsewhere on the page. */
function HighlightOnChange({ value }: { value: string }) {
  const [changes, setChanges] = useState(0);
  const before = useRef(value);
  useEffect(() => {
    if (before.current !== value) setChanges((count) => count + 1);
    before.current = value;
  }, [value]);
  return (
    <p class="figure-value">
      <span key={changes} class={changes > 0 ? 'moved' : ''}>
        {value}
      </span>
    </p>
  );
}

/** Signed, and without a colour of its own: more is not always better. */
export const Change = ({ text }: { text: string }) => <span class="change">{text}</span>;
