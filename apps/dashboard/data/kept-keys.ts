/** A new key on its way from where it was made to where it goes into a tag. It is in this page's memory only. */
const kept = new Map<string, string>();

export function keepKey(domainId: string, apiKey: string): void {
  kept.set(domainId, apiKey);
}

export const keptKey = (domainId: string): string => kept.get(domainId) ?? '';
