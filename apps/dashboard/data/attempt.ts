import { useState } from 'preact/hooks';
import { textOf } from './api-error.ts';

/** Runs the action of a click, one at a time. `failure`: a sentence if the last one failed, else empty. */
export function useAttempt() {
  const [state, setState] = useState({ isBusy: false, failure: '' });
  /** Ignored while an action runs. `wordsFor`: the sentence for an error. */
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
