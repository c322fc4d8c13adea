/** Names categories by the banner's default labels, and a site's own categories by their ids. */
import { phrases } from '#libs/widget/texts';

const labels: ReadonlyMap<string, string> = new Map(
  (['necessary', 'functional', 'analytics', 'marketing'] as const).map((id) => [id, phrases[id]]),
);

export const categoryLabel = (id: string): string | undefined => labels.get(id);
