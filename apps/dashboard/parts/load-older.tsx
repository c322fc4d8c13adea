/** A button below a list that loads older entries. */
import { useEffect, useRef } from 'preact/hooks';
import type { NextPage } from '../data/next-page.ts';

interface Props {
  older: NextPage;
  /** the plural noun, such as `deliveries` */
  what: string;
  /** loads by itself when the button scrolls into view */
  isAutomatic?: boolean;
}

export function LoadOlder({ older, what, isAutomatic = false }: Props) {
  const { isLoading, hasFailed } = older;
  const button = useRef<HTMLButtonElement>(null);
  const latest = useRef(older);
  latest.current = older;
  // observe again after each page, since the button may still be in view
  useEffect(() => {
    const element = button.current;
    if (!element || !isAutomatic || isLoading || hasFailed) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) latest.current.load();
      },
      { rootMargin: '600px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isLoading, hasFailed]);
  const busy = isAutomatic ? `Loading older ${what} …` : 'Loading…';
  return (
    <div class="older">
      {hasFailed && <span role="alert">Older {what} could not be loaded. </span>}
      <button type="button" class="button" ref={button} disabled={isLoading} onClick={older.load}>
        {isLoading ? busy : hasFailed ? 'Try again' : `Older ${what}`}
      </button>
    </div>
  );
}
