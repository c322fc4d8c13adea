/** Where a visitor may be led, wherever the page is. */
import { type Rule, rule } from './setting-rules.ts';

const schemes = ['https:', 'http:', 'mailto:', 'tel:'];
/** What is an address on a page with TLS may be none on another, such as `https:`. */
const pages = ['https://site.example/', 'http://site.example/'];

/** Anything else, such as `javascript:`, would do more than lead somewhere. */
export const isLink = (href: string): boolean =>
  pages.every((page) => URL.canParse(href, page) && schemes.includes(new URL(href, page).protocol));

export const linkRule: Rule = rule(
  (value) => typeof value === 'string' && value !== '' && isLink(value),
  'must be an address with https, http, mailto or tel, or one on the site',
);
