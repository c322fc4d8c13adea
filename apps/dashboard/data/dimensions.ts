/** The dimensions that decisions are grouped by, and English names of their values. */
import type { Dimension } from '#libs/base/terms/terms';
import { english, escapeInvisible } from '../format.ts';
import { categoryLabel } from './category-names.ts';
import { dimensionNames } from './dimension-names.ts';

interface Words {
  /** name for records without a value */
  none: string;
  /** Undefined if the value is shown as it is. */
  nameOf?(value: string): string | undefined;
}

const devices: Record<string, string> = { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet', tv: 'TV' };
const sources: Record<string, string> = {
  banner: 'Banner',
  preferences: 'Preferences',
  gpc: 'Global Privacy Control',
  api: 'API',
  import: 'Import',
};

const models: Record<string, string> = {
  opt_in: 'Asked first',
  opt_out: 'May object',
  none: 'Nobody is asked',
};

function nameBy(type: 'region' | 'language'): (value: string) => string | undefined {
  const names = new Intl.DisplayNames(english, { type });
  return (value) => {
    try {
      return names.of(value);
    } catch {
      // not a valid country or language code
      return undefined;
    }
  };
}

const countryName = nameBy('region');

/** `US-CA` → “United States, CA”: browsers have no names of regions. */
function regionName(value: string): string | undefined {
  const [country = '', region] = value.split('-');
  const name = region === undefined ? undefined : countryName(country);
  return name && `${name}, ${region}`;
}

const words: Record<Dimension, Words> = {
  country: { none: 'Unknown country', nameOf: countryName },
  region: { none: 'No region', nameOf: regionName },
  device: { none: 'Unknown device', nameOf: (value) => devices[value] },
  language: { none: 'No language', nameOf: nameBy('language') },
  category: { none: 'No category', nameOf: categoryLabel },
  bannerVersion: { none: 'No version' },
  variant: { none: 'No variant' },
  browser: { none: 'Unknown browser' },
  source: { none: 'No source', nameOf: (value) => sources[value] },
  policyVersion: { none: 'No version' },
  model: { none: 'No model', nameOf: (value) => models[value] },
};

export const titleOf = (dimension: Dimension): string => {
  const name = dimensionNames[dimension];
  return name.charAt(0).toUpperCase() + name.slice(1);
};

export function valueName(dimension: Dimension, { value, other }: { value: string | null; other?: true | undefined }) {
  const { none, nameOf } = words[dimension];
  if (other) return 'All others';
  if (value === null) return none;
  return nameOf?.(value) ?? escapeInvisible(value);
}
