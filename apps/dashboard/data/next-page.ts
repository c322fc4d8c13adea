import { useState } from 'preact/hooks';
import type { Reading } from './query.ts';

export interface NextPage {
  isLoading: boolean;
  hasFailed: boolean;
  load(): void;
}

/**
 * Loads the next page of a list that goes back in time. `cursorOf`: where that page starts; null at the end. `append`:
 * adds the page to the list, unless another list is shown by then.
 */
export function useNextPage<T, Page>(
  { latest, put }: Pick<Reading<T>, 'latest' | 'put'>,
  cursorOf: (value: T) => string | null,
  read: (cursor: string) => Promise<Page>,
  append: (value: T, page: Page) => T,
): NextPage {
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
