/** A notice in the layout that the visitor saw. */
import './notice-document.css';
import type { ComponentChildren } from 'preact';
import { escapeInvisible } from '../format.ts';
import { isolated } from './isolated.tsx';

/** Entries that are shown without their name. */
const plain = new Set(['title', 'intro', 'note', 'label', 'description', 'always', 'text']);

/**
 * The texts of a notice, in the document's own order. Sites write notices too, so any JSON is accepted, and shown as
 * text.
 */
export function NoticeDocument({ text }: { text: string }) {
  const document = parseNotice(text);
  if (document === undefined)
    return (
      <div class="stack gap-8 anywhere shown">
        <pre>{escapeInvisible(text)}</pre>
      </div>
    );
  const { language } = document;
  return (
    <div class="stack gap-8 anywhere shown" lang={typeof language === 'string' ? language : undefined} dir="auto">
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
      <div class="stack gap-6 shown-part">
        <Entries entries={value} />
      </div>
    );
  }
  const text = isolated(String(value));
  if (name === 'title' || name === 'label') return <p class="strong">{text}</p>;
  return <p>{plain.has(name) ? text : <Named name={name}>{text}</Named>}</p>;
}

/** A list of texts, such as button labels, or of parts, such as categories. */
const List = ({ name, values }: { name: string; values: unknown[] }) => (
  <ul
    class={name === 'buttons' ? 'cluster gap-6 shown-buttons' : 'stack gap-6 shown-part'}
    aria-label={escapeInvisible(name)}
  >
    {values.map((value, index) => (
      <li key={index}>{typeof value === 'object' && value ? <Entries entries={value} /> : isolated(String(value))}</li>
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

/** Undefined if the document is not a JSON object. */
export function parseNotice(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
