/** What comes after making a domain. */
import { widgetAddress } from '../../data/router.ts';

export const FirstSteps = ({ domainId }: { domainId: string }) => (
  <section class="card message" aria-labelledby="first-steps-title">
    <h2 id="first-steps-title">Next: the banner</h2>
    <p>Choose how it looks, make its key, and copy the tag into the site. All of it is on one page.</p>
    <a class="button primary" href={widgetAddress(domainId)}>
      Set up the banner
    </a>
  </section>
);
