/** A modal dialog: takes the keyboard, and gives it back to what opened it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface Props {
  title: ComponentChildren;
  /** what has begun is not taken back by Escape */
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
    // while it is open, nothing outside it can have the focus; one that is gone already no longer returns it by itself
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
      // not for one that is gone: its event comes later
      onClose={() => dialog.current && onClose()}
      onCancel={(event) => isBusy && event.preventDefault()}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
