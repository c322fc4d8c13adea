/** Restores scroll positions on back and forward. The browser would do so before the page is rendered. */

/** Milliseconds without scrolling after which the position is saved. */
const saveAfter = 150;
/** Milliseconds to wait for the page to grow to its former height. */
const patience = 10_000;

export function keepScrollPositions(): void {
  history.scrollRestoration = 'manual';
  let timer: ReturnType<typeof setTimeout> | undefined;
  let frame = 0;
  const stop = () => cancelAnimationFrame(frame);
  const restore = () => {
    clearTimeout(timer);
    stop();
    const wanted = savedPosition(history.state);
    const until = performance.now() + patience;
    const step = () => {
      scrollTo(0, wanted);
      if (Math.abs(scrollY - wanted) > 1 && performance.now() < until) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  };
  addEventListener('scroll', () => {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState({ scroll: scrollY }, ''), saveAfter);
  });
  // somebody who has scrolled on is not pulled back
  for (const name of ['wheel', 'touchstart', 'keydown', 'pointerdown']) addEventListener(name, stop, { passive: true });
  addEventListener('popstate', restore);
  restore();
}

const savedPosition = (state: unknown): number =>
  typeof state === 'object' && state && 'scroll' in state && typeof state.scroll === 'number' ? state.scroll : 0;
