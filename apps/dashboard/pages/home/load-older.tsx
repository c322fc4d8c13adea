import { useEffect, useRef } from 'preact/hooks';
import type { OlderRecords } from './older-records.ts';

/** A button that presses itself when it comes into view. */
export function LoadOlder({ older }: { older: OlderRecords }) {
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(older);
  latest.current = older;
  // observes anew after each page, since the button may still be in view
  useEffect(() => {
    const element = button.current;
    if (!element || older.isLoading || older.hasFailed) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current.load();
      },
      { rootMargin: '600px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [older.isLoading, older.hasFailed]);
  return (
    <div class="stream-more">
      {older.hasFailed && <span role="alert">Older records could not be loaded. </span>}
      <button type="button" class="button" ref={button} disabled={older.isLoading} onClick={() => older.load()}>
        {older.isLoading ? 'Loading older records …' : older.hasFailed ? 'Try again' : 'Older records'}
      </button>
    </div>
  );
}
