/**
 * What a visitor was shown, as it read: the texts of a notice in the document's own order. Sites write notices too, so
 * any JSON is shown, always as text.
 */
import './notice-document.css';
import type { ComponentChildren } from 'preact';
import { escapeInvisible } from '../format.ts';

/** Entries that need no name beside them. */
const plain = new Set(['title', 'intro', 'note', 'label', 'description', 'always', 'text']);

export function NoticeDocument({ text }: { text: string }) {
  const document = parse(text);
  if (document === undefined)
    return (
      <div class="shown">
        <pre>{escapeInvisible(text)}</pre>
      </div>
    );
  const { language } = document;
  return (
    <div class="shown" lang={typeof language === 'string' ? language : undefined} dir="auto">
      <Entries entries={document} />
    </div>
  );
}

const Entries = ({ entries }: { entries: object }) => (
  <>
    {Object.entries(entries).map(([name, value]: [string, unknown]) => (
      <Entry key={name} name={name} value={value} />
    ))}
  </>
);

function Entry({ name, value }: { name: string; value: unknown }) {
  if (isEmpty(value)) return null;
  if (Array.isArray(value)) return <List name={name} values={value} />;
  if (typeof value === 'object' && value) {
    return (
      <div class="shown-part">
        <Entries entries={value} />
      </div>
    );
  }
  const text = <bdi>{escapeInvisible(String(value))}</bdi>;
  if (name === 'title' || name === 'label') return <p class="shown-title">{text}</p>;
  return <p>{plain.has(name) ? text : <Named name={name}>{text}</Named>}</p>;
}

/** Of texts, such as the labels of buttons, or of parts, such as categories. */
const List = ({ name, values }: { name: string; values: unknown[] }) => (
  <ul class={name === 'buttons' ? 'shown-buttons' : 'shown-part'} aria-label={escapeInvisible(name)}>
    {values.map((value, index) => (
      <li key={index}>
        {typeof value === 'object' && value ? <Entries entries={value} /> : <bdi>{escapeInvisible(String(value))}</bdi>}
      </li>
    ))}
  </ul>
);

const Named = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <span class="muted" lang="en">
      {escapeInvisible(name)}:
    </span>{' '}
    {children}
  </>
);

const isEmpty = (value: unknown) => value === '' || value === null || (Array.isArray(value) && value.length === 0);

/** Undefined for what is no JSON object. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
