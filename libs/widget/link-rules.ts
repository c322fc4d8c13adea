/** Rules for links in a banner. */
import { type Rule, rule } from './setting-rules.ts';

const schemes = ['https:', 'http:', 'mailto:', 'tel:'];
/** A link must be valid on both: a bare `https:`, for example, is valid only on https pages. */
const pages = ['https://site.example/', 'http://site.example/'];

/** Links with any other scheme, such as `javascript:`, could run code. */
export const isLink = (href: string): boolean =>
  pages.every((page) => URL.canParse(href, page) && schemes.includes(new URL(href, page).protocol));

export const linkRule: Rule = rule(
  (value) => typeof value === 'string' && value !== '' && isLink(value),
  'must be an address with https, http, mailto or tel, or one on the site',
);
