import { atLeast } from '../figures.ts';
import { bareKoa, fullLoad, type Measurement } from '../measurement.ts';

export const accept: Measurement = {
  name: 'accept',
  about: 'records that one API process acknowledges a second, without a worker ÷ bare Koa',
  reference: bareKoa('accept'),
  figure: async ({ sites, startApi }, { seconds }) =>
    fullLoad('accept', await startApi(), { seconds, send: { sites } }),
  targets: { accept: atLeast(0.85) },
};
