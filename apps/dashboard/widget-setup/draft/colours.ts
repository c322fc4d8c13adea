/** The widget's colours, and the pairs that touch on the screen. */
import { type ColourName, colourNames, isColour, isOpaque } from '#libs/widget/colours';

export { type ColourName, colourNames };

export const schemes = ['light', 'dark'] as const;
export type Scheme = (typeof schemes)[number];

/** The widget's defaults (apps/widget/view/widget.css). */
export const defaultColours: Record<Scheme, Record<ColourName, string>> = {
  light: {
    background: '#ffffff',
    text: '#161b26',
    muted: '#565f70',
    line: '#e2e5eb',
    button: '#1d2638',
    buttonText: '#ffffff',
    focus: '#2460e5',
  },
  dark: {
    background: '#181b22',
    text: '#f2f4f8',
    muted: '#a8b0bf',
    line: '#2e343f',
    button: '#e9edf5',
    buttonText: '#12161f',
    focus: '#8ab0ff',
  },
};

export const colourLabels: Record<ColourName, string> = {
  background: 'Background',
  text: 'Titles and links',
  muted: 'Other text',
  line: 'Lines',
  button: 'Buttons',
  buttonText: 'Text of buttons',
  focus: 'Focus ring',
};

export interface ColourPair {
  one: ColourName | `#${string}`;
  other: ColourName;
  /** readable name of the element */
  name: string;
  /** the contrast ratio that it needs */
  least: number;
}

/** WCAG 2.2, 1.4.3 for text and 1.4.11 for controls and their state. Lines are decoration. */
export const pairs: ColourPair[] = [
  { one: 'text', other: 'background', name: 'titles and links on the background', least: 4.5 },
  { one: 'muted', other: 'background', name: 'other text on the background', least: 4.5 },
  { one: 'buttonText', other: 'button', name: 'the text on buttons', least: 4.5 },
  { one: 'button', other: 'background', name: 'buttons and switches on the background', least: 3 },
  { one: 'focus', other: 'background', name: 'the focus ring on the background', least: 3 },
  { one: '#777788', other: 'background', name: 'switches that are off on the background', least: 3 },
];

/**
 * The reason why the banner cannot have this colour; undefined if it can. Through a transparent colour the page shows, so
 * that one of the two buttons might be easier to see than the other.
 */
export function colourTrouble(name: ColourName, value: string): string | undefined {
  if (!isColour(value)) return 'Not a colour.';
  if (name !== 'background' || isOpaque(value)) return undefined;
  return 'The background has to be opaque: where the page shows through, accepting and rejecting do not look equal.';
}
