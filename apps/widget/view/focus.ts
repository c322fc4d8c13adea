/** Keeps the keyboard inside an open dialog: after the last control comes the first. */
export function keepFocus(dialog: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const controls = [...dialog.querySelectorAll<HTMLElement>('a[href], button, input')];
  const end = event.shiftKey ? controls[0] : controls.at(-1);
  const other = event.shiftKey ? controls.at(-1) : controls[0];
  const { activeElement } = dialog.getRootNode() as ShadowRoot;
  if (activeElement !== end && activeElement !== dialog) return;
  if (activeElement === dialog && !event.shiftKey) return;
  event.preventDefault();
  other?.focus();
}
