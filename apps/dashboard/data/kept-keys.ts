/** Keys on their way from where they were made or pasted to where they go into a tag. They are in this page's memory only. */
const kept = new Map<string, string>();
const made = new Set<string>();

export function keepKey(domainId: string, apiKey: string): void {
  kept.set(domainId, apiKey);
}

export function keepMadeKey(domainId: string, apiKey: string): void {
  made.add(apiKey);
  keepKey(domainId, apiKey);
}

export const keptKey = (domainId: string): string => kept.get(domainId) ?? '';

/** Nobody can have it from elsewhere: it is shown here for the last time. */
export const isMadeHere = (apiKey: string): boolean => made.has(apiKey);
