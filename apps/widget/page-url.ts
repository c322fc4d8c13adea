/** The page without query and fragment, which can identify the visitor. */
export const pageUrl = (): string | undefined =>
  /^http/.test(location.protocol) ? location.origin + location.pathname : undefined;
