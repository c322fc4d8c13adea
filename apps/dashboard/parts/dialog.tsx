/** A modal dialog. It takes the focus, and returns it to the element that opened it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface Props {
  title: ComponentChildren;
  /** Escape does not close it while an action runs */
  isBusy: boolean;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, isBusy, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const own = dialog.current;
    const opener = document.activeElement;
    own?.showModal();
    // while the dialog is open, nothing outside it can have the focus; a removed dialog does not return the focus by itself
    return () => {
      own?.close();
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={titleId}
      // the event of a dialog that was removed comes late and is ignored
      onClose={() => dialog.current && onClose()}
      onCancel={(event) => isBusy && event.preventDefault()}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
