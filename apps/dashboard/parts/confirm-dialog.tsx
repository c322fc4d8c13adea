/** Dialogs that need a single click. */
import type { ComponentChildren } from 'preact';
import { useAttempt } from '../data/attempt.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './field.tsx';

interface Props {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

interface ConfirmProps extends Props {
  /** the button's label */
  action: string;
  isDangerous?: boolean;
  act(): Promise<void>;
}

/** Asks for confirmation, runs the action, and stays open with the reason if it fails. */
export function ConfirmDialog({ title, action, isDangerous = false, act, onClose, children }: ConfirmProps) {
  const { isBusy, failure, attempt } = useAttempt();
  const confirm = () => attempt(() => act().then(onClose));
  return (
    <Dialog title={title} isBusy={isBusy} onClose={onClose}>
      {children}
      <Failure>{failure}</Failure>
      <div class="actions">
        <Button text="Cancel" disabled={isBusy} onClick={onClose} />
        <Button text={action} kind={isDangerous ? 'danger' : 'primary'} disabled={isBusy} onClick={confirm} />
      </div>
    </Dialog>
  );
}

/** A message with a button that closes it. */
export const DoneDialog = ({ title, onClose, children }: Props) => (
  <Dialog title={title} isBusy={false} onClose={onClose}>
    {children}
    <div class="actions">
      <Button text="Close" kind="primary" onClick={onClose} />
    </div>
  </Dialog>
);
