/** The script tag of the site, and the origins that may record. */
import { widgetTag } from '../data/widget-tag.ts';
import { Snippet } from '../parts/snippet.tsx';
import { AllowedOrigins } from './allowed-origins.tsx';
import { browsersTell } from './publish-dialog.tsx';

export const TagCard = ({ domainId, isPublished }: { domainId: string; isPublished: boolean }) => (
  <section class="card message widget-tag" aria-labelledby="tag-title">
    <h2 id="tag-title">The tag</h2>
    <p>
      Put it into the head of every page of the site, once. What it shows is published here, so the pages never change.
    </p>
    <Snippet
      name="Script tag"
      code={widgetTag(domainId)}
      warning={isPublished ? '' : 'Nothing is published yet: it shows no banner.'}
    />
    <p class="hint">
      {isPublished ? browsersTell : 'Until you publish, the tag shows no banner, and scripts that need consent wait.'}
    </p>
    <AllowedOrigins domainId={domainId} />
  </section>
);
