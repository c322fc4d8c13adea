/** That a banner was shown: it is counted by these values, and nothing else is kept. */
import { z } from 'zod';
import { recordBody } from '#libs/record/contract';

export const displayBody = recordBody
  .pick({ bannerVersion: true, variant: true, language: true })
  .meta({ id: 'DisplayBody', description: 'A banner was shown. Unknown fields are left out.' });

export type DisplayBody = z.infer<typeof displayBody>;

export const compiledDisplayBody = z.compile(displayBody);

/** How often banners were shown on a domain in one UTC day; '' for a value that there is not. */
export interface Displays {
  domainId: string;
  /** `YYYY-MM-DD` */
  day: string;
  bannerVersion: string;
  variant: string;
  language: string;
  displays: number;
}
