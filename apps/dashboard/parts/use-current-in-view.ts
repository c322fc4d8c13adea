import { useEffect, useRef } from 'preact/hooks';

/** Chips, of which a phone shows only some: scrolls the list, but not the page, to the current one. */
export function useCurrentInView(current: string) {
  const chips = useRef<HTMLElement>(null);
  useEffect(() => {
    const list = chips.current?.getBoundingClientRect();
    const chip = chips.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    if (list && chip) chips.current?.scrollBy({ left: chip.left + chip.width / 2 - list.left - list.width / 2 });
  }, [current]);
  return chips;
}
