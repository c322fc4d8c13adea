/**
 * A name or a record's field may hold what a terminal obeys: colours, titles, cursor movements, text that runs the other
 * way. Here they are shown as JSON writes them, so that JSON stays the same JSON.
 */
export const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
