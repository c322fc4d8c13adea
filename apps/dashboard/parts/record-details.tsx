/** A dialog with everything stored about one record. Its code is loaded when it is first opened. */
import type { FullRecord } from '#libs/record/contract';
import './record-details.css';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { DecisionName } from './decision-name.tsx';
import { lazy } from './lazy.tsx';

const Content = lazy(() => import('./record-content.tsx'))((part) => part.RecordContent, 'table');

interface Props {
  record: FullRecord;
  domainName: string;
  /** the token may read visitors */
  hasVisitors: boolean;
  onClose(): void;
}

export function RecordDetails({ onClose, ...shown }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
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
      onKeyDown={() => undefined}
    >
      <div class="upright details-body">
        <header class="cluster spread">
          <h2 id="details-title">
            <DecisionName decision={shown.record.decision} />
          </h2>
          <Button text="Close" kind="quiet" onClick={() => dialog.current?.close()} />
        </header>
        <Content {...shown} />
      </div>
    </dialog>
  );
}
