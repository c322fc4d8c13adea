/**
 * Names and fields of records may contain control characters that a terminal executes: colours, titles, cursor movements,
 * bidirectional text. They are printed as JSON escapes, so that JSON output stays equivalent.
 */
export const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
