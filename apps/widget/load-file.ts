/** Loads a further file of the widget: a script that puts its exports on its own element. */
import { page } from './page.ts';
import type { Settings } from './settings.ts';
import { trusted } from './trusted.ts';

/**
 * A script element that carries its file's exports. A file finds its own through `currentScript`, which is null in a
 * module.
 */
export type FileElement<File> = HTMLOrSVGScriptElement & { file?: File };

/** Calls `done` with the file, or without if it fails to load. Throws if the page's policy blocks it. */
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
