import { useState } from 'preact/hooks';

export interface Older {
  isLoading: boolean;
  hasFailed: boolean;
  load(): void;
}

/** The next page of a list that goes back in time. `cursorOf`: where it begins, as of the click; null at the end. */
export function useOlder(cursorOf: () => string | null | undefined, read: (cursor: string) => Promise<void>): Older {
  const [state, setState] = useState({ isLoading: false, hasFailed: false });
  const load = () => {
    const cursor = cursorOf();
    if (!cursor || state.isLoading) return;
    setState({ isLoading: true, hasFailed: false });
    read(cursor).then(
      () => setState({ isLoading: false, hasFailed: false }),
      () => setState({ isLoading: false, hasFailed: true }),
    );
  };
  return { ...state, load };
}
