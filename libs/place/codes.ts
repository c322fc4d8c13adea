/** The codes of countries (ISO 3166-1) and of their regions (ISO 3166-2), as headers and files write them. */

/** Codes for an unknown country, or for several. */
const noCountries = new Set(['XX', 'ZZ', 'EU', 'AP']);

/** In upper case; undefined if the text is no country's code. */
export function parseCountry(text: string): string | undefined {
  const code = text.toUpperCase();
  return /^[A-Z]{2}$/.test(code) && !noCountries.has(code) ? code : undefined;
}

/** `CA`, `us-ca` → `US-CA`; undefined if it is no code, or of another country. */
export function parseRegion(text: string, country: string): string | undefined {
  const [, prefix = country, own] = /^(?:([A-Z]{2})-)?([A-Z0-9]{1,3})$/.exec(text.toUpperCase()) ?? [];
  return own !== undefined && prefix === country ? `${country}-${own}` : undefined;
}

/** A code with its country: `us-ca` → `US-CA`. */
export function parseFullRegion(text: string): string | undefined {
  const country = text.includes('-') ? parseCountry(text.slice(0, 2)) : undefined;
  return country && parseRegion(text, country);
}
