/** Every dimension in the order of the menu, with the words that follow “by”, as in “by banner version”. */
import type { Dimension } from '#libs/base/terms/terms';

export const dimensionNames: Record<Dimension, string> = {
  country: 'country',
  region: 'region',
  device: 'device',
  language: 'language',
  category: 'category',
  bannerVersion: 'banner version',
  policyVersion: 'policy version',
  browser: 'browser',
  source: 'source',
  variant: 'variant',
  model: 'model',
};
