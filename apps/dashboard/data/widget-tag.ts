import { serviceAddress } from './base.ts';

/** The script tag of the widget. Its path is the one that always serves the current release, so it has no hash. */
export const widgetTag = (domainId: string, apiKey: string, attributes: readonly string[] = []): string =>
  [
    `<script src="${serviceAddress()}/widget.js"`,
    `data-domain="${domainId}" data-key="${apiKey}"${attributes.length > 0 ? '' : ' defer></script>'}`,
    ...attributes.map((each, at) => (at === attributes.length - 1 ? `${each} defer></script>` : each)),
  ].join('\n  ');
