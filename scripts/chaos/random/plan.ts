/** Which part fails when, how and for how long: a pure function of the seed, so that a run that broke a promise repeats. */
import { createHash } from 'node:crypto';

export const processes = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
export const stores = ['postgres', 'redis'] as const;

type Range = readonly [least: number, most: number];

const ofStore = { kill: [0, 12], freeze: [1, 18], restart: [0, 5], away: [30, 45], disk: [2, 8] } as const;
/** Seconds that each fault lasts. A worker's locks last 10 s, and most deadlines are shorter than 15. */
export const faults = {
  process: { kill: [0, 12], freeze: [1, 20], restart: [0, 3] },
  postgres: { ...ofStore, lock: [2, 12] },
  redis: { ...ofStore, memory: [2, 8], readOnly: [1, 8] },
  /** the connections of one process to one store */
  link: { silence: [1, 25], cut: [0, 4], slow: [2, 15] },
  /** it steps, and back at the end; `startsDaysAhead`: the process has been started with it */
  clock: {
    minutesAhead: [2, 30],
    minutesBehind: [2, 30],
    daysAhead: [2, 30],
    daysBehind: [2, 30],
    startsDaysAhead: [2, 30],
  },
} as const satisfies Record<string, Record<string, Range>>;

export type Kind = keyof typeof faults;

export const parts: Record<Kind, readonly string[]> = {
  process: processes,
  postgres: ['postgres'],
  redis: ['redis'],
  link: processes.flatMap((process) => stores.map((store) => `${process} to ${store}`)),
  clock: [...processes, 'postgres'],
};
/** One of them is drawn, so processes fail twice as often as the others. */
const kinds: Kind[] = ['process', 'process', 'postgres', 'redis', 'link', 'clock'];

export interface PlannedFault {
  part: string;
  /** as `faults` names it */
  what: string;
  /** seconds since the load began */
  from: number;
  to: number;
}

/** seconds without a fault: at the beginning, between two rounds, and at the end */
export const calm = { first: 5, between: [3, 10], last: 10 } as const;
/** how often a second part fails before the first is back */
const twoAtOnce = 0.4;

/** In the order in which they begin. No part fails again before it is back, and all are back `calm.last` before the end. */
export function makePlan(seed: number, minutes: number): PlannedFault[] {
  const draw = drawer(seed);
  const end = minutes * 60 - calm.last;
  const plan: PlannedFault[] = [];
  for (let from: number = calm.first; ; ) {
    const first = drawFault(draw, from);
    const second = drawFault(draw, draw.between([from, first.to]));
    // the first fault of all fits into a minute, alone
    const isPair = draw.chance() < twoAtOnce && plan.length > 0 && second.part !== first.part;
    const round = isPair ? [first, second] : [first];
    const back = Math.max(...round.map((fault) => fault.to));
    if (back > end) return plan;
    plan.push(...round);
    from = inTenths(back + draw.between(calm.between));
  }
}

type Drawer = ReturnType<typeof drawer>;

function drawFault(draw: Drawer, from: number): PlannedFault {
  const kind = draw.one(kinds);
  const [what, range] = draw.one(Object.entries<Range>(faults[kind]));
  return { part: draw.one(parts[kind]), what, from, to: inTenths(from + draw.between(range)) };
}

const inTenths = (seconds: number): number => Math.round(seconds * 10) / 10;

function drawer(seed: number) {
  let drawn = 0;
  /** From 0 to below 1; Math.random takes no seed. */
  const chance = () => createHash('sha256').update(`${seed} ${drawn++}`).digest().readUInt32LE() / 2 ** 32;
  return {
    chance,
    one: <One>(all: readonly One[]): One => {
      const one = all[Math.floor(chance() * all.length)];
      if (one === undefined) throw new Error('there is nothing to draw from');
      return one;
    },
    between: ([least, most]: Range): number => inTenths(least + chance() * (most - least)),
  };
}
