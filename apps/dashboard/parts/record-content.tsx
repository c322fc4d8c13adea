/** Everything stored about one record: the decision, the notice and the proof. */
import type { FullRecord } from '#libs/record/contract';
import './record-content.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { copyText } from '../clipboard.ts';
import { logAddress, visitorAddress } from '../data/router.ts';
import { counted, dateAndTime } from '../format.ts';
import { Button, ButtonLink } from './button.tsx';
import { CategoryName } from './category-name.tsx';
import { isolated } from './isolated.tsx';
import { fieldsOf } from './record-fields.ts';
import { RecordNotice } from './record-notice.tsx';
import { RecordProof } from './record-proof.tsx';

interface Props {
  record: FullRecord;
  domainName: string;
  /** the token may read visitors */
  hasVisitors: boolean;
}

export function RecordContent({ record, domainName, hasVisitors }: Props) {
  const [copyResult, setCopyResult] = useState('');
  const { domainId, visitorId } = record;
  const fields = allFieldsOf(record, domainName);
  const absent = fields.flatMap(([name, value]) => (value === null ? [name] : []));
  const copy = async () => {
    const isCopied = await copyText(JSON.stringify(record, null, 2));
    setCopyResult(isCopied ? 'Copied.' : 'The browser did not allow it.');
  };
  return (
    <>
      <section class="fields" aria-label="Decision">
        <dl>
          {fields.map(
            ([name, value]) =>
              value !== null && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
        {absent.length > 0 && (
          <details class="explain">
            <summary>{counted(absent.length, 'field')} without a value</summary>
            <p>{absent.join(', ')}</p>
          </details>
        )}
      </section>
      {record.notice === null ? (
        <p class="record-notice muted">What was shown was not recorded.</p>
      ) : (
        <RecordNotice record={record} isOpen />
      )}
      <RecordProof record={record} />
      <footer class="cluster">
        {visitorId !== null && (
          <ButtonLink
            text={hasVisitors ? 'This visitor’s page' : 'All records of this visitor'}
            href={hasVisitors ? visitorAddress(domainId, visitorId) : logAddress(domainId, {}, visitorId)}
          />
        )}
        <Button text="Copy as JSON" onClick={copy} />
        <span role="status">{copyResult}</span>
      </footer>
    </>
  );
}

/** Null if nothing is stored. */
const allFieldsOf = (record: FullRecord, domainName: string): [name: string, value: ComponentChildren | null][] => {
  const { decidedAt, receivedAt, erasedAt, visitorId, preferences, metadata } = record;
  return [
    ['Decided', `${dateAndTime(decidedAt)} UTC`],
    [
      'Preferences',
      preferences &&
        pairs(
          Object.entries(preferences).map(
            ([id, isOn]) => [id, isOn ? 'allowed' : 'refused', <CategoryName id={id} />] as const,
          ),
        ),
    ],
    ['Visitor', visitorId && isolated(visitorId)],
    [
      'Domain',
      <>
        {isolated(domainName)} <code>{record.domainId}</code>
      </>,
    ],
    ...fieldsOf(record).map(([name, text]) => [name, text && isolated(text)] as [string, ComponentChildren | null]),
    ['Metadata', metadata && pairs(Object.entries(metadata).map(([name, value]) => [name, String(value)] as const))],
    ['Bot', record.bot ? 'yes: sent by a crawler or another program' : 'no'],
    ['Received', `${dateAndTime(receivedAt)} UTC`],
    ['Personal fields erased', erasedAt && `${dateAndTime(erasedAt)} UTC`],
    ['Record id', <code>{record.id}</code>],
  ];
};

/** `shown`: replaces the name. */
const pairs = (all: (readonly [name: string, value: string, shown?: ComponentChildren])[]) =>
  all.length === 0 ? (
    <span class="muted">none</span>
  ) : (
    <ul class="stack gap-2">
      {all.map(([name, value, shown = isolated(name)]) => (
        <li key={name}>
          {shown}: {isolated(value)}
        </li>
      ))}
    </ul>
  );
