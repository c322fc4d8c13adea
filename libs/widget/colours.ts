/** Colours that a banner can have. */
export const colourNames = ['background', 'text', 'muted', 'line', 'button', 'buttonText', 'focus'] as const;
export type ColourName = (typeof colourNames)[number];

/** A word may stand for another colour, whichever that is. */
export function isOpaque(value: string): boolean {
  const text = value.toLowerCase();
  if (/^(transparent|currentcolor|inherit|initial|unset|revert)$/.test(text)) return false;
  const [, short, long] = /^#(?:[0-9a-f]{3}([0-9a-f])|[0-9a-f]{6}([0-9a-f]{2}))$/.exec(text) ?? [];
  if (short ?? long) return (short ?? long) === 'f' || long === 'ff';
  const [alpha] = /(?:\/|^(?:rgb|hsl)a?\([^,]*,[^,]*,[^,]*,)\s*([^\s)]+)\s*\)$/.exec(text)?.slice(1) ?? [];
  return alpha === undefined || Number.parseFloat(alpha) >= (alpha.endsWith('%') ? 100 : 1);
}

/** Something that CSS takes as a colour: it cannot end the declaration. */
export const isColour = (value: string): boolean =>
  /^(#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|[a-z]{3,30}|(rgb|hsl|hwb|lab|lch|oklab|oklch)a?\([\d\s.,%/a-z+-]{1,80}\))$/i.test(
    value,
  );
