/** The two letters of a country in a header or a file, in upper case; undefined where it is none. */
export const countryIn = (header: string): string | undefined =>
  /^[A-Za-z]{2}$/.test(header) ? header.toUpperCase() : undefined;
