import type { Breakdown } from '#libs/contract/terms';

/** The decisions of one day or month. */
export interface Bucket extends Breakdown {
  total: number;
  /** `Thu, 12 Nov 2026` */
  name: string;
  /** `12 Nov` */
  tick: string;
}
