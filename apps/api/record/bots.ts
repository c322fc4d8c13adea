/** Known crawlers, and other programs that are no browser, by their user agent. They are marked and never refused: every valid record counts. */
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';

/** User agents repeat; the ones that do not make room for those that do. */
const maxUserAgents = 5_000;

export function createBotDetector(): (userAgent: string | undefined) => boolean {
  const known = new LRUCache<string, boolean>({ max: maxUserAgents });
  return (userAgent) => {
    // every browser says what it is
    if (userAgent === undefined) return true;
    const found = known.get(userAgent);
    if (found !== undefined) return found;
    const answer = isbot(userAgent);
    known.set(userAgent, answer);
    return answer;
  };
}
