/** The page's address without query and fragment, which could identify the visitor. */
export const pageUrl = (): string | undefined =>
  location.protocol[0] === 'h' ? location.origin + location.pathname : undefined;
