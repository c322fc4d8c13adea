/** The page's address without query and fragment, which could identify the visitor. */
export const pageUrl = (): string | undefined =>
  /^http/.test(location.protocol) ? location.origin + location.pathname : undefined;
