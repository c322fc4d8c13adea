/** What a visitor is shown, byte for byte, with its SHA-256. */
import { hexOf } from './uuid.ts';

export interface Shown {
  text: string;
  /** absent in the first moment, and for good where there can be none */
  hash?: string;
}

/** Bytes that the service takes. */
const largest = 16_384;

export function hashNotice(notice: object): Shown {
  const shown: Shown = { text: JSON.stringify(notice) };
  const bytes = new TextEncoder().encode(shown.text);
  // browsers hash on secure pages only
  if (bytes.length <= largest && crypto.subtle) {
    void crypto.subtle.digest('SHA-256', bytes).then((hash) => {
      shown.hash = hexOf(new Uint8Array(hash));
    });
  }
  return shown;
}
