/** The text that a visitor is shown, byte for byte, with its SHA-256. */
import { hexOf } from './uuid.ts';

export interface Shown {
  text: string;
  /** absent until it is computed, and for good if the page is not secure or the text too large */
  hash?: string;
}

/** Bytes that the service accepts. */
const largest = 16_384;

/** Adds the hash once it is known. */
export async function hash(shown: Shown): Promise<void> {
  try {
    const bytes = new TextEncoder().encode(shown.text);
    // browsers hash on secure pages only
    if (bytes.length > largest || !crypto.subtle) return;
    shown.hash = hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
  } catch {
    // the record has no hash then
  }
}
