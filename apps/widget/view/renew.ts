import { map } from '#libs/widget/tamper-proof';

/** Shows a view again and keeps its state: switches, unfolded details and the focus. */
export function renew(dialog: HTMLElement, show: () => void): void {
  const controls = () =>
    dialog.querySelectorAll<HTMLInputElement & HTMLDetailsElement>('a, button, details, input, summary');
  const former = controls();
  const focused = (dialog.getRootNode() as ShadowRoot).activeElement ?? document.activeElement;
  show();
  map(controls(), (control, index) => {
    const was = former[index];
    if (was?.matches('input')) control.checked = was.checked;
    if (was?.open) control.open = true;
    if (was === focused) control.focus({ preventScroll: true });
  });
  if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
}
