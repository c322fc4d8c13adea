/** The notices that visitors will see first under published settings, byte for byte as their browsers make them. */

export interface PublishedNotice {
  language: string;
  /** `experiment:variant`, as in records */
  variant: string | null;
  /** with the Global Privacy Control signal */
  gpc: boolean;
  text: string;
}

/** `settings`: what `checkSettings` finds nothing wrong with. */
export function publishedNotices(_settings: object, _bannerVersion: string): PublishedNotice[] {
  return [];
}
