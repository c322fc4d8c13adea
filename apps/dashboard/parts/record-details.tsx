/** Everything that is stored about one record, in a dialog. */
import type { FullRecord } from '#libs/record/contract';
import './record-details.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { copyText } from '../clipboard.ts';
import { logAddress, visitorAddress } from '../data/router.ts';
import { dateAndTime } from '../format.ts';
import { Button, ButtonLink } from './button.tsx';
import { DecisionName } from './decision-name.tsx';
import { isolated } from './isolated.tsx';
import { fieldsOf } from './record-fields.ts';
import { RecordNotice } from './record-notice.tsx';
import { RecordProof } from './record-proof.tsx';

interface Props {
  record: FullRecord;
  domainName: string;
  /** the token may read visitors */
  hasVisitors: boolean;
  onClose(): void;
}

export function RecordDetails({ record, domainName, hasVisitors, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [copyResult, setCopyResult] = useState('');
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const json = JSON.stringify(record, null, 2);
  return (
    <dialog
      class="details"
      ref={dialog}
      aria-labelledby="details-title"
      onClose={onClose}
      onClick={(event) => {
        // a click on the backdrop has the dialog itself as its target
        if (event.target === dialog.current) dialog.current?.close();
      }}
      // the browser handles Escape
      onKeyDown={() => undefined}
    >
      <div class="upright details-body">
        <header class="cluster spread">
          <h2 id="details-title">
            <DecisionName decision={record.decision} />
          </h2>
          <Button text="Close" kind="quiet" onClick={() => dialog.current?.close()} />
        </header>
        <dl class="fields">
          <Field name="Decided">{dateAndTime(record.decidedAt)} UTC</Field>
          <Field name="Received">{dateAndTime(record.receivedAt)} UTC</Field>
          {record.erasedAt !== null && <Field name="Personal fields erased">{dateAndTime(record.erasedAt)} UTC</Field>}
          <Field name="Domain">
            {isolated(domainName)} <code>{record.domainId}</code>
          </Field>
          <Field name="Visitor">{record.visitorId !== null && isolated(record.visitorId)}</Field>
          <Field name="Preferences">
            {record.preferences && (
              <Pairs
                pairs={Object.entries(record.preferences).map(([name, isOn]) => [name, isOn ? 'allowed' : 'refused'])}
              />
            )}
          </Field>
          {fieldsOf(record).map(([name, text]) => (
            <Field key={name} name={name}>
              {text !== null && isolated(text)}
            </Field>
          ))}
          <Field name="Bot">{record.bot ? 'yes: sent by a crawler or another program' : 'no'}</Field>
          <Field name="Metadata">
            {record.metadata && (
              <Pairs pairs={Object.entries(record.metadata).map(([name, value]) => [name, String(value)])} />
            )}
          </Field>
          <Field name="Record id">
            <code>{record.id}</code>
          </Field>
        </dl>
        <RecordNotice record={record} />
        <RecordProof record={record} />
        <footer class="cluster">
          <Button
            text="Copy as JSON"
            kind="primary"
            onClick={() =>
              void copyText(json).then((isCopied) =>
                setCopyResult(isCopied ? 'Copied.' : 'The browser did not allow it.'),
              )
            }
          />
          {record.visitorId !== null && (
            <ButtonLink
              text={hasVisitors ? 'This visitor’s page' : 'All records of this visitor'}
              href={
                hasVisitors
                  ? visitorAddress(record.domainId, record.visitorId)
                  : logAddress(record.domainId, { visitorId: record.visitorId })
              }
              onClick={() => dialog.current?.close()}
            />
          )}
          <span role="status">{copyResult}</span>
        </footer>
      </div>
    </dialog>
  );
}

function Field({ name, children }: { name: string; children?: ComponentChildren }) {
  const isEmpty = children === null || children === undefined || children === false || children === '';
  return (
    <div>
      <dt>{name}</dt>
      <dd>{isEmpty ? <span class="muted">not stored</span> : children}</dd>
    </div>
  );
}

const Pairs = ({ pairs }: { pairs: [string, string][] }) =>
  pairs.length === 0 ? (
    <span class="muted">none</span>
  ) : (
    <ul class="stack gap-2">
      {pairs.map(([name, value]) => (
        <li key={name}>
          {isolated(name)}: {isolated(value)}
        </li>
      ))}
    </ul>
  );
