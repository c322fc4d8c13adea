/** A card with one large number, its name and a comparison. */
import './figure.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Rated } from '../data/group-rows.ts';
import { counted, points, share } from '../format.ts';

interface Props {
  name: ComponentChildren;
  value: string;
  note?: ComponentChildren;
  children?: ComponentChildren;
}

export function Figure({ name, value, note, children }: Props) {
  return (
    <section class="card upright figure">
      <h2>{name}</h2>
      <HighlightOnChange value={value} />
      {note && <p class="hint figure-note">{note}</p>}
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
export const Change = ({ text }: { text: string }) => <span class="strong digits change">{text}</span>;

interface OptInProps extends Rated {
  /** both rates, the words after the change, and the words where there is nothing to compare with */
  compared: { now: number | null | undefined; before: number | null | undefined; description: string; without: string };
}

/** The opt-in rate and its change between two periods. Undefined rates are those that the service did not have at hand. */
export const OptInFigure = ({ choices, optInRate, compared }: OptInProps) => (
  <Figure name="Opt-in rate" value={share(optInRate ?? null)} note={<OptInNote optInRate={optInRate} {...compared} />}>
    {choices !== undefined && (
      <p class="hint">{choices === 0 ? 'no choices yet' : `of ${counted(choices, 'choice')}`}</p>
    )}
  </Figure>
);

function OptInNote({ optInRate, now, before, description, without }: Rated & OptInProps['compared']) {
  if (optInRate === undefined) return 'The service does not have it at the moment';
  if (now === undefined || before === undefined) return null;
  if (now === null || before === null) return `Nothing to compare with ${without}`;
  return (
    <>
      <Change text={points(before, now)} /> {description}
    </>
  );
}
