/** A card with one large number, its name and a comparison. */
import './figure.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Breakdown } from '#libs/base/terms/terms';
import { optInRate } from '../data/decisions.ts';
import { points, share } from '../format.ts';

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

interface OptInProps {
  breakdown: Breakdown;
  /** both periods, the words after the change, and the words where there is nothing to compare with */
  compared: { now: Breakdown; before: Breakdown; description: string; without: string };
}

/** The opt-in rate and its change between two periods. */
export function OptInFigure({ breakdown, compared }: OptInProps) {
  const rate = optInRate(breakdown);
  const now = optInRate(compared.now);
  const before = optInRate(compared.before);
  return (
    <Figure
      name="Opt-in rate"
      value={share(rate)}
      note={
        now === null || before === null ? (
          `Nothing to compare with ${compared.without}`
        ) : (
          <>
            <Change text={points(before, now)} /> {compared.description}
          </>
        )
      }
    />
  );
}
