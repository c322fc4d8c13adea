/** Both ends of an interval in words. */

import { share, signedPoints } from '../format.ts';
import type { Interval } from './proportions.ts';

export const shareRange = ({ low, high }: Interval): string => `${share(low)} to ${share(high)}`;
/** Both ends of a difference, in points. */
export const pointRange = ({ low, high }: Interval): string => `${signedPoints(low)} to ${signedPoints(high)}`;
