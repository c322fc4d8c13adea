/**
 * The widget takes the focus when it opens, and its dialogs keep it. Somebody who types in the dashboard must not lose it,
 * and somebody who has come into the frame must get out of it.
 */
export function leaveFocus(): void {
  addEventListener('keydown', (event) => event.key === 'Tab' && event.stopImmediatePropagation(), true);
  const { focus } = HTMLElement.prototype;
  HTMLElement.prototype.focus = function (this: HTMLElement, options) {
    if (document.hasFocus()) focus.call(this, options);
  };
  const { show, showModal } = HTMLDialogElement.prototype;
  // a dialog takes it by itself, unless it is inert
  const quietly = (open: () => void) =>
    function (this: HTMLDialogElement) {
      this.inert = !document.hasFocus();
      open.call(this);
      this.inert = false;
    };
  HTMLDialogElement.prototype.show = quietly(show);
  HTMLDialogElement.prototype.showModal = quietly(showModal);
}
