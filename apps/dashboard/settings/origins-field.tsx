/** The allowed origins, one field each. A pasted list fills several fields. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { originFrom } from '../data/typed-origin.ts';
import { Button } from '../parts/button.tsx';
import type { Errors } from '../parts/draft-form.tsx';
import { FieldNote } from '../parts/field.tsx';
import { originsIn } from './domain-draft.ts';

const most = 100;

interface Props {
  origins: string[];
  errors: Errors;
  onChange(origins: string[]): void;
}

export function OriginsField({ origins, errors, onChange }: Props) {
  const group = useRef<HTMLFieldSetElement>(null);
  /** focus once there are `of` fields: the index of one of them, or the button that adds one */
  const next = useRef<{ place: number; of: number } | null>(null);
  /** normalized origins that differ from the typed text */
  const [taken, setTaken] = useState<string[]>([]);
  useEffect(() => {
    // the value of the last render may be outdated after a click
    if (next.current?.of !== origins.length) return;
    const { place } = next.current;
    next.current = null;
    const fields = group.current?.querySelectorAll('input') ?? [];
    (fields[place] ?? group.current?.querySelector<HTMLElement>('.settings-add'))?.focus();
  });
  const replace = (at: number, ...by: string[]) => [...origins.slice(0, at), ...by, ...origins.slice(at + 1)];
  const change = (changed: string[], place: number) => {
    next.current = { place, of: changed.length };
    onChange(changed);
  };
  const add = () => change([...origins, ''], origins.length);
  const remove = (at: number) => change(replace(at), at);
  /** Normalizes on blur, not while typing: a moving layout would move the button that is being clicked. */
  const settle = (text: string, at: number) => {
    const origin = originFrom(text);
    if (origin === undefined || origin === text) return;
    if (origin !== text.trim()) setTaken([...taken, origin]);
    onChange(replace(at, origin));
  };
  const noteOf = (text: string) => {
    const origin = originFrom(text);
    return origin !== undefined && (origin !== text.trim() || taken.includes(origin)) && `Taken as ${origin}`;
  };
  const paste = (event: ClipboardEvent, at: number) => {
    const pasted = originsIn(event.clipboardData?.getData('text') ?? '');
    if (pasted.length < 2) return;
    event.preventDefault();
    const before = origins[at]?.trim();
    const all = before ? [before, ...pasted] : pasted;
    change(replace(at, ...all), at + all.length - 1);
  };
  return (
    <fieldset class="field gap-8" ref={group} data-wrong={errors['/origins'] && ''} aria-describedby="origins-note">
      <legend>Addresses of the website</legend>
      {origins.map((origin, at) => {
        const error = errors[`/origins/${at}`];
        return (
          <div key={at} class="beside" data-wrong={error && ''}>
            <input
              type="url"
              inputMode="url"
              autocomplete="off"
              spellcheck={false}
              maxLength={300}
              placeholder="https://www.example.com"
              aria-label={`Address ${at + 1}`}
              aria-invalid={error !== undefined}
              aria-describedby={`origin-note-${at}`}
              value={origin}
              onInput={(event) => onChange(replace(at, event.currentTarget.value))}
              onChange={(event) => settle(event.currentTarget.value, at)}
              onPaste={(event) => paste(event, at)}
            />
            <Button kind="quiet" onClick={() => remove(at)}>
              Remove<span class="hidden"> address {at + 1}</span>
            </Button>
            <FieldNote id={`origin-note-${at}`} error={error}>
              {noteOf(origin)}
            </FieldNote>
          </div>
        );
      })}
      {origins.length < most && (
        <div>
          <Button text="Add address" class="settings-add" onClick={add} />
        </div>
      )}
      <FieldNote id="origins-note" error={errors['/origins']}>
        Only pages at these addresses may record, such as https://www.example.com, or https://*.example.com for all
        subdomains. Without any, every website that has a key of this domain may.
      </FieldNote>
    </fieldset>
  );
}
