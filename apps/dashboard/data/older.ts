import { useState } from 'preact/hooks';
import type { Reading } from './query.ts';

export interface Older {
  isLoading: boolean;
  hasFailed: boolean;
  load(): void;
}

/**
 * The next page of a list that goes back in time. `cursorOf`: where it begins, as of the click; null at the end. `append`:
 * the list with that page, unless another list is shown meanwhile.
 */
export function useOlder<T, Page>(
  { latest, put }: Pick<Reading<T>, 'latest' | 'put'>,
  cursorOf: (value: T) => string | null,
  read: (cursor: string) => Promise<Page>,
  append: (value: T, page: Page) => T,
): Older {
  const [state, setState] = useState({ isLoading: false, hasFailed: false });
  const cursorNow = () => {
    const value = latest();
    return value === undefined ? null : cursorOf(value);
  };
  const load = () => {
    const cursor = cursorNow();
    if (!cursor || state.isLoading) return;
    setState({ isLoading: true, hasFailed: false });
    read(cursor).then(
      (page) => {
        const value = latest();
        if (value !== undefined && cursorNow() === cursor) put(append(value, page));
        setState({ isLoading: false, hasFailed: false });
      },
      () => setState({ isLoading: false, hasFailed: true }),
    );
  };
  return { ...state, load };
}
