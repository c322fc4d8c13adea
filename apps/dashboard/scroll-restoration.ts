/** Where one was on a page, for the way back to it: the browser looks before the page is drawn again, which is too soon. */

/** Milliseconds without a movement, after which a place is worth keeping. */
const settled = 150;
/** Milliseconds that a page has to grow as long as it was. */
const patience = 10_000;

export function keepPlaces(): void {
  history.scrollRestoration = 'manual';
  let timer: ReturnType<typeof setTimeout> | undefined;
  let restoring = 0;
  const stop = () => cancelAnimationFrame(restoring);
  const restore = () => {
    clearTimeout(timer);
    stop();
    const wanted = placeIn(history.state);
    const until = performance.now() + patience;
    const step = () => {
      scrollTo(0, wanted);
      if (Math.abs(scrollY - wanted) > 1 && performance.now() < until) restoring = requestAnimationFrame(step);
    };
    restoring = requestAnimationFrame(step);
  };
  addEventListener('scroll', () => {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState({ scroll: scrollY }, ''), settled);
  });
  // whoever moves on is not pulled back
  for (const name of ['wheel', 'touchstart', 'keydown', 'pointerdown']) addEventListener(name, stop, { passive: true });
  addEventListener('popstate', restore);
  restore();
}

const placeIn = (state: unknown): number =>
  typeof state === 'object' && state && 'scroll' in state && typeof state.scroll === 'number' ? state.scroll : 0;
