/** Where a visitor may be led, wherever the page is. */

const schemes = ['https:', 'http:', 'mailto:', 'tel:'];
/** What is an address on a page with TLS is none on another, and the other way round: `http:legal`. */
const pages = ['https://site.example/', 'http://site.example/'];

/** Anything else, such as `javascript:`, would do more than lead somewhere. */
export const isLink = (href: string): boolean =>
  pages.every((page) => URL.canParse(href, page) && schemes.includes(new URL(href, page).protocol));
