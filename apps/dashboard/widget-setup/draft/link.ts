/** A banner's settings in a link: in the fragment, which no server sees. */
import { type ReadDraft, readDraft, type WidgetDraft } from './draft.ts';

/** Characters. Longer links are cut off on their way in mails and chats. */
const longest = 8_000;
const fragment = /[#&]banner=([\w-]+)/;

/** Empty without settings; null where it would be too long. */
export function toFragment(draft: WidgetDraft): string | null {
  if (Object.keys(draft).length === 0) return '';
  const bytes = new TextEncoder().encode(JSON.stringify(draft));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const found = `#banner=${text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
  return found.length > longest ? null : found;
}

export const hasDraft = (address: string): boolean => /[#&]banner=/.test(address);

/** Null where it cannot be read at all. */
export function fromFragment(address: string): ReadDraft | null {
  try {
    const [, text = ''] = fragment.exec(address) ?? [];
    const packed = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    return readDraft(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return null;
  }
}
