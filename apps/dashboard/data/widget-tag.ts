import { serviceAddress } from './base.ts';

/** The one tag of a domain's pages: it stays as it is, whatever is published. */
export const widgetTag = (domainId: string): string =>
  `<script src="${serviceAddress()}/w/${domainId}.js" defer></script>`;
