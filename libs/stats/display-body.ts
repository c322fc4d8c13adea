/** That a banner was shown: it is counted by these values, and nothing else is kept. */
import type { z } from 'zod';
import { createCheck } from '#libs/record/check-record';
import { recordBody } from '#libs/record/contract';

export const displayBody = recordBody
  .pick({ bannerVersion: true, variant: true, language: true })
  .meta({ id: 'DisplayBody', description: 'A banner was shown. What is unknown or breaks its rule is left out.' });

export type DisplayBody = z.infer<typeof displayBody>;

export const checkDisplay = createCheck(displayBody);

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
