/** One number that matters, large, with what it is and what it is compared with. */
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
      <Moving value={value} />
      {note && <p class="figure-note">{note}</p>}
      {children}
    </section>
  );
}

/** Lights up for a moment when it changes, so that an eye elsewhere on the page notices. */
function Moving({ value }: { value: string }) {
  const [turn, setTurn] = useState(0);
  const before = useRef(value);
  useEffect(() => {
    if (before.current !== value) setTurn((count) => count + 1);
    before.current = value;
  }, [value]);
  return (
    <p class="figure-value">
      <span key={turn} class={turn > 0 ? 'moved' : ''}>
        {value}
      </span>
    </p>
  );
}

/** With its own sign; its colour says nothing, since more is not always better. */
export const Change = ({ text }: { text: string }) => <span class="change">{text}</span>;
