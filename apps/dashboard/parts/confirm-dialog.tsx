/** Asks once more, does it, and stays open with the reason if it fails. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { textOf } from '../data/api-error.ts';
import { Dialog } from './dialog.tsx';

interface Props {
  title: string;
  /** of the button */
  action: string;
  isDangerous?: boolean;
  act(): Promise<void>;
  onClose(): void;
  children: ComponentChildren;
}

export function ConfirmDialog({ title, action, isDangerous = false, act, onClose, children }: Props) {
  const [state, setState] = useState<'asks' | 'busy' | { failure: string }>('asks');
  const isBusy = state === 'busy';
  const confirm = () => {
    setState('busy');
    act().then(onClose, (error: unknown) => setState({ failure: textOf(error) }));
  };
  return (
    <Dialog title={title} isBusy={isBusy} onClose={onClose}>
      {children}
      {typeof state === 'object' && (
        <p class="field-note" role="alert">
          {state.failure}
        </p>
      )}
      <div class="actions">
        <button type="button" class="button" disabled={isBusy} onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class={`button ${isDangerous ? 'danger' : 'primary'}`}
          disabled={isBusy}
          onClick={confirm}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
