/** Keeps the focus inside an open dialog: after the last control comes the first. */
export function keepFocus(dialog: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  // the dialog itself comes first; what is folded away cannot have the focus
  const controls = 'a[href], summary, input, button:not(details:not([open]) *)';
  const order = [dialog, ...dialog.querySelectorAll<HTMLElement>(controls)];
  const at = order.indexOf((dialog.getRootNode() as ShadowRoot).activeElement as HTMLElement);
  const next = event.shiftKey ? (at > 1 ? at - 1 : -1) : at + 1;
  event.preventDefault();
  (order.at(next) ?? order[1])?.focus();
}
