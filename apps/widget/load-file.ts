/** Loads a further file of the widget: a script that leaves what it has on its own element. */
import { page } from './page.ts';
import type { Settings } from './settings.ts';
import { trusted } from './trusted.ts';

/** What runs is its element; null in a module. */
export type FileElement<File> = HTMLOrSVGScriptElement & { file?: File };

/** Calls `done` when it has come, or when it is known that it does not. Throws where the page keeps scripts out. */
export function loadFile<File>(
  path: string,
  integrity: string,
  { api, nonce }: Pick<Settings, 'api' | 'nonce'>,
  home: Element,
  done: (file?: File) => void,
): void {
  const script: HTMLScriptElement & { file?: File } = page.createElement('script');
  script.onload = script.onerror = () => {
    script.remove();
    done(script.file);
  };
  script.integrity = integrity;
  script.nonce = nonce;
  script.crossOrigin = 'anonymous';
  script.src = trusted(api + path);
  home.append(script);
}
