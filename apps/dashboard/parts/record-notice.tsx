/** What the visitor was shown when making a decision, read when somebody wants to see it. */
import type { FullRecord } from '#libs/record/contract';
import './notice-document.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../data/api-error.ts';
import { useSignedIn } from '../data/signed-in.ts';
import { escapeInvisible } from '../format.ts';
import { isolated } from './isolated.tsx';

type Found = { text: string } | { failure: string } | null;

interface Props {
  record: FullRecord;
  /** where it was read with the record */
  text?: string | undefined;
}

/** Nothing where the record names no notice. */
export function RecordNotice({ record, text: known }: Props) {
  const { api } = useSignedIn();
  const [found, setFound] = useState<Found>(known === undefined ? null : { text: known });
  const { notice, domainId } = record;
  if (notice === null) return null;
  const read = () => {
    if (found && 'text' in found) return;
    api.notice(domainId, notice).then(
      (text) => setFound({ text }),
      (error: unknown) => setFound({ failure: failureOf(error) }),
    );
  };
  return (
    <details class="record-notice explain" onToggle={(event) => event.currentTarget.open && read()}>
      <summary>What was shown</summary>
      {found && 'text' in found && <NoticeDocument text={found.text} />}
      <div role="status">
        {!found && <p>Loading</p>}
        {found && 'failure' in found && <p>{found.failure}</p>}
      </div>
      <p>
        SHA-256 <code>{notice}</code>
      </p>
    </details>
  );
}

const failureOf = (error: unknown): string =>
  error instanceof ApiError && error.code === 'notice_not_found'
    ? 'The record names this notice, but no browser has sent it yet.'
    : 'The notice could not be read. Close and open this part to try again.';

/** Entries that need no name beside them. */
const plain = new Set(['title', 'intro', 'note', 'label', 'description', 'always', 'text']);

/**
 * What a visitor was shown, as it read: the texts of a notice in the document's own order. Sites write notices too, so
 * any JSON is shown, always as text.
 */
function NoticeDocument({ text }: { text: string }) {
  const document = parse(text);
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

/** Of texts, such as the labels of buttons, or of parts, such as categories. */
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

/** Undefined for what is no JSON object. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
