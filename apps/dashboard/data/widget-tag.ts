import { serviceAddress } from './base.ts';

/** The script tag of a domain's pages. It never changes when a banner is published. */
export const widgetTag = (domainId: string): string =>
  `<script src="${serviceAddress()}/w/${domainId}.js" defer></script>`;
