/** The script tag of the widget. Its path is the one that always serves the current release, so it has no hash. */
export const widgetTag = (domainId: string, apiKey: string): string =>
  `<script src="${location.origin}/widget.js"\n  data-domain="${domainId}" data-key="${apiKey}" defer></script>`;
