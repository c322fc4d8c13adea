/** The codes of countries (ISO 3166-1) and of their regions (ISO 3166-2), as headers and files write them. */

/** Written where the country is unknown, or for more than one. */
const noCountries = new Set(['XX', 'ZZ', 'EU', 'AP']);

/** In upper case; undefined where it is none. */
export function countryIn(text: string): string | undefined {
  const code = text.toUpperCase();
  return /^[A-Z]{2}$/.test(code) && !noCountries.has(code) ? code : undefined;
}

/** `CA`, `us-ca` → `US-CA`; undefined where it is none, or one of another country. */
export function regionIn(text: string, country: string): string | undefined {
  const [, prefix = country, own] = /^(?:([A-Z]{2})-)?([A-Z0-9]{1,3})$/.exec(text.toUpperCase()) ?? [];
  return own !== undefined && prefix === country ? `${country}-${own}` : undefined;
}

/** The same for a text that has to name its country: `us-ca` → `US-CA`. */
export function wholeRegionIn(text: string): string | undefined {
  const country = text.includes('-') ? countryIn(text.slice(0, 2)) : undefined;
  return country && regionIn(text, country);
}
