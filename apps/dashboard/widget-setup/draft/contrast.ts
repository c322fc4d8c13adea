/** Contrast ratios as defined by WCAG 2.2, and a banner's pairs of colours that have too little. */
import {
  type ColourName,
  type ColourPair,
  colourNames,
  defaultColours,
  pairs,
  type Scheme,
  schemes,
} from './colours.ts';
import type { Appearance } from './draft.ts';

interface ContrastTrouble {
  /** the chosen colour */
  at: ColourName;
  scheme: Scheme;
  name: string;
  /** rounded down, so that too little never looks like enough */
  ratio: number;
  least: number;
  /** whether one of the two colours is the widget's own, which differs between light and dark */
  isHalfChosen: boolean;
}

type Channels = readonly [red: number, green: number, blue: number];

/** Channels from 0 to 255. Undefined unless the colour is `#rgb`, `#rrggbb` or an opaque `rgb(…)`. */
function channelsOf(colour: string): Channels | undefined {
  const long = colour.replace(/^#([0-9a-f])([0-9a-f])([0-9a-f])$/i, '#$1$1$2$2$3$3');
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i
    .exec(long)
    ?.slice(1)
    .map((each) => Number.parseInt(each, 16));
  const rgb = /^rgb\(\s*(\d{1,3})\s*[,\s]\s*(\d{1,3})\s*[,\s]\s*(\d{1,3})\s*\)$/i.exec(colour)?.slice(1).map(Number);
  const [red, green, blue] = hex ?? rgb ?? [];
  return red === undefined || green === undefined || blue === undefined ? undefined : [red, green, blue];
}

/** The colour as `#rrggbb`; undefined if its channels are unknown. */
export const hexOf = (colour: string): string | undefined =>
  channelsOf(colour)
    ?.map((channel) => Math.min(channel, 255).toString(16).padStart(2, '0'))
    .reduce((all, each) => all + each, '#');

/** The ratio from 1 to 21; undefined if the channels of a colour are unknown. */
export function contrast(one: string, other: string): number | undefined {
  const [a, b] = [luminance(one), luminance(other)];
  return a === undefined || b === undefined ? undefined : (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Relative luminance, 0 to 1. */
function luminance(colour: string): number | undefined {
  const channels = channelsOf(colour);
  if (!channels) return undefined;
  const [red, green, blue] = channels;
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** Linear light of a channel, 0 to 1. */
function linear(channel: number): number {
  const share = Math.min(channel, 255) / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

type Colours = Pick<Appearance, 'theme' | 'colors' | 'darkColors'>;

/** The site's colours for this scheme. */
export const chosenFor = (scheme: Scheme, { colors = {}, darkColors = {} }: Colours): Colours['colors'] & object =>
  scheme === 'dark' ? { ...colors, ...darkColors } : colors;

/** The scheme of the banner; undefined if it depends on the visitor. */
export const onlyScheme = ({ theme }: Colours): Scheme | undefined => (theme === 'auto' ? undefined : theme);

/** The pairs with too little contrast, in every scheme that visitors may have. */
export const contrastTroubles = (look: Colours): ContrastTrouble[] =>
  schemes
    .filter((scheme) => (onlyScheme(look) ?? scheme) === scheme)
    .flatMap((scheme) =>
      pairs.flatMap(({ one, other, name, least }) => {
        const colors = chosenFor(scheme, look);
        const shown = (colour: ColourPair['one']) =>
          isName(colour) ? (colors[colour] ?? defaultColours[scheme][colour]) : colour;
        const ratio = contrast(shown(one), shown(other));
        const names = [one, other].filter((each) => isName(each));
        const [at] = names.filter((each) => colors[each] !== undefined);
        if (ratio === undefined || ratio >= least || at === undefined) return [];
        const isHalfChosen = names.some((each) => colors[each] === undefined);
        return [
          { at, scheme, name, ratio: Math.min(Math.round(ratio * 100) / 100, least - 0.01), least, isHalfChosen },
        ];
      }),
    );

interface ContrastWarning {
  sentence: string;
  /** the readable theme, if only the other one is not */
  wayOut: Scheme | undefined;
}

/** Below this ratio, people do not notice the element. */
const unreadable = 2;

export function contrastWarning(colours: Colours): ContrastWarning | undefined {
  const troubles = contrastTroubles(colours);
  if (troubles.length === 0) return undefined;
  const sound = schemes.filter((scheme) => troubles.every((trouble) => trouble.scheme !== scheme));
  const isFixed = onlyScheme(colours) !== undefined;
  const sentences = schemes.flatMap((scheme) => {
    const [worst] = troubles
      .filter((each) => each.scheme === scheme)
      .sort((a, b) => a.ratio / a.least - b.ratio / b.least);
    return worst ? [`${isFixed ? `In the ${scheme} banner` : `On ${scheme} screens`}, ${reasonOf(worst)}`] : [];
  });
  return { sentence: sentences.join(' '), wayOut: isFixed ? undefined : sound[0] };
}

const reasonOf = ({ name, ratio, least }: ContrastTrouble): string =>
  `${name} ${ratio < unreadable ? 'can hardly be seen' : 'may be hard to see'} (${ratio.toFixed(2)} : 1, at least ${least} : 1 is needed).`;

const isName = (colour: string): colour is ColourName => colourNames.some((each) => each === colour);

/** Chosen colours whose contrast cannot be computed. */
export const unmeasured = (colors: Partial<Record<ColourName, string>>): ColourName[] =>
  colourNames.filter((name) => colors[name] !== undefined && !channelsOf(colors[name]));
