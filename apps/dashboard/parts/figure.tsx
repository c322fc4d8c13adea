/** A card with one large number, its name and a comparison. */
import './figure.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Rated } from '../data/group-rows.ts';
import { differenceOf, type Proportion } from '../data/proportions.ts';
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

/** Lights up briefly when it changes, so that the change is noticed from elsewhere on the page. */
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

/** A signed change, without red or green: more is not always better. Grey if it may be chance. */
export const Change = ({ text, isClear = true }: { text: string; isClear?: boolean }) => (
  <span class={isClear ? 'strong digits change' : 'digits'}>{text}</span>
);

interface OptInProps extends Rated {
  /** the counts are newer than the rate */
  isBehind: boolean;
  /** choices of both periods, the words after the change, and the words for too few choices */
  compared: {
    now: Proportion | undefined;
    before: Proportion | null | undefined;
    description: string;
    without: string;
  };
}

/** The opt-in rate and its change between two periods. Undefined means that the service did not send it. */
export const OptInFigure = ({ choices, optInRate, isBehind, compared }: OptInProps) => (
  <Figure name="Opt-in rate" value={share(optInRate ?? null)} note={<OptInNote optInRate={optInRate} {...compared} />}>
    {choices !== undefined && (
      <p class="hint">
        {choices > 0 ? `of ${counted(choices, 'choice')} by visitors` : isBehind ? 'updating…' : 'no choices yet'}
      </p>
    )}
  </Figure>
);

function OptInNote({ optInRate, now, before, description, without }: Rated & OptInProps['compared']) {
  if (optInRate === undefined) return 'The service does not have it at the moment';
  if (now === undefined || before === undefined) return null;
  const change = before && differenceOf(now, before);
  if (!change) return without;
  return (
    <>
      <Change text={points(0, change.points)} isClear={change.isClear} /> {description}
      {!change.isClear && ' (may be chance)'}
    </>
  );
}
