/** Loads the second file, when the browser is idle or when its contents are called for. */
import { either } from './attempt.ts';
import { page } from './page.ts';
import { part } from './plain.ts';
import type { SecondFile } from './preferences.ts';

/** Milliseconds until a visitor is told that it does not come. */
const patience = 5_000;
/** Milliseconds that a busy browser may put it off. */
const longestIdle = 2_000;

export interface Place {
  /** base address of the service */
  api: string;
  /** of the widget's own tag, for a content security policy with nonces */
  nonce: string;
}

/** `home`: the element below which its script runs. `onArrival` is called once. */
export function openSecondFile({ api, nonce }: Place, home: Element, onArrival: (file: SecondFile) => void) {
  const base = api[api.length - 1] === '/' ? part(api, 0, api.length - 1) : api;
  const { path, integrity } = __SECOND_FILE__;
  const address = trusted(base + path);
  let coming: Promise<SecondFile> | undefined;

  const second = {
    /** once it is there */
    file: undefined as SecondFile | undefined,
    /** Rejects where it is missing or blocked, and after a while where it is slow. Each call tries again. */
    load: async (): Promise<SecondFile> => {
      if (second.file) return second.file;
      coming ??= new Promise((resolve, reject) => {
        const script: HTMLScriptElement & { secondFile?: SecondFile } = page.createElement('script');
        script.onload = script.onerror = () => {
          second.file = script.secondFile;
          script.remove();
          coming = undefined;
          if (!second.file) return reject();
          onArrival(second.file);
          resolve(second.file);
        };
        script.integrity = integrity;
        script.crossOrigin = 'anonymous';
        script.nonce = nonce;
        script.src = address;
        home.append(script);
      });
      return Promise.race([coming, new Promise<never>((_, reject) => setTimeout(reject, patience))]);
    },
  };
  const prepare = () => void second.load().catch(() => {});
  // Safari has no idle callbacks
  if ('requestIdleCallback' in window) requestIdleCallback(prepare, { timeout: longestIdle });
  else setTimeout(prepare, longestIdle);
  return second;
}

/** Where a page takes scripts from policies alone, ours is called `assent`. */
function trusted(address: string): string {
  return (
    either(
      () =>
        window.trustedTypes
          ?.createPolicy('assent', { createScriptURL: (url) => url })
          .createScriptURL(address) as string,
      undefined,
    ) ?? address
  );
}
