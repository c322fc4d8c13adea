import { useState } from 'preact/hooks';
import { textOf } from './api-error.ts';

/** What a click begins, one at a time. `failure`: in words, why the last one failed; empty otherwise. */
export function useAttempt() {
  const [state, setState] = useState({ isBusy: false, failure: '' });
  /** Nothing while the one before goes on. `wordsFor`: what somebody is told who waits for it. */
  const attempt = (act: () => Promise<unknown>, wordsFor = textOf) => {
    if (state.isBusy) return;
    setState({ isBusy: true, failure: '' });
    act().then(
      () => setState({ isBusy: false, failure: '' }),
      (error: unknown) => setState({ isBusy: false, failure: wordsFor(error) }),
    );
  };
  return { ...state, attempt };
}
