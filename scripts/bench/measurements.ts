/** All measurements in their order: those on empty stores first, then those on the kept data sets. */
import type { Measurement, Scale } from './measurement.ts';
import { accept } from './measurements/accept.ts';
import { acceptTail } from './measurements/accept-tail.ts';
import { burst } from './measurements/burst.ts';
import { disk } from './measurements/disk.ts';
import { drain } from './measurements/drain.ts';
import { drainSmall } from './measurements/drain-small.ts';
import { fresh } from './measurements/fresh.ts';
import { orgRecords } from './measurements/org-records.ts';
import { pages } from './measurements/pages.ts';
import { scale } from './measurements/scale.ts';
import { stats } from './measurements/stats.ts';
import { statsScale } from './measurements/stats-scale.ts';
import { sustain } from './measurements/sustain.ts';
import { usual } from './measurements/usual.ts';

export const measurements: Measurement[] = [
  accept,
  acceptTail,
  sustain,
  usual,
  drain,
  drainSmall,
  fresh,
  burst,
  scale,
  disk,
  stats,
  statsScale,
  pages,
  orgRecords,
];

export const whole: Scale = {
  rounds: 3,
  seconds: 5,
  pairs: 12,
  pairSeconds: 2,
  endToEndSeconds: 8,
  backlog: 200_000,
  smallBacklog: 50_000,
  burst: 100_000,
  followed: 200,
  large: 10_000_000,
  small: 10_000,
};

export const quick: Scale = {
  rounds: 3,
  seconds: 1,
  pairs: 3,
  pairSeconds: 1,
  endToEndSeconds: 1,
  backlog: 10_000,
  smallBacklog: 5_000,
  burst: 10_000,
  followed: 10,
  large: 100_000,
  small: 10_000,
};
