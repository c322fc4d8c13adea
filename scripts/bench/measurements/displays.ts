import { atLeast } from '../figures.ts';
import { bareKoa, fullLoad, type Measurement } from '../measurement.ts';

export const displays: Measurement = {
  name: 'displays',
  about: 'banners shown that one API process counts a second ÷ bare Koa',
  reference: bareKoa('displays', ({ sites }) => ({ shops: sites })),
  figure: async ({ sites, startApi }, { seconds }) =>
    fullLoad('displays', await startApi(), { seconds, send: { shops: sites } }),
  targets: { displays: atLeast(0.75) },
};
