/** Which part fails when, how and for how long: a pure function of the seed, so that a run that broke a promise repeats. */

export const processNames = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
export const storeNames = ['postgres', 'redis'] as const;

export type ProcessName = (typeof processNames)[number];
export type StoreName = (typeof storeNames)[number];
/** the connections of one process to one store */
export type LinkName = `${ProcessName} to ${StoreName}`;

export const linkNames = processNames.flatMap((process) =>
  storeNames.map((store): LinkName => `${process} to ${store}`),
);

type Range = readonly [least: number, most: number];

/** Seconds that each fault lasts. A worker's locks last 10 s, and most deadlines are shorter than 15. */
const processFaults = { kill: [0, 12], freeze: [1, 20], restart: [0, 3] } as const;
const storeFaults = { kill: [0, 12], freeze: [1, 18], restart: [0, 5], fill: [2, 8] } as const;
const linkFaults = { silence: [1, 20], cut: [0, 4], slow: [2, 15] } as const;

interface Planned<Part, What> {
  part: Part;
  what: What;
  /** seconds since the load began */
  from: number;
  to: number;
}

export type ProcessFault = Planned<ProcessName, keyof typeof processFaults>;
export type StoreFault = Planned<StoreName, keyof typeof storeFaults>;
export type LinkFault = Planned<LinkName, keyof typeof linkFaults>;
export type PlannedFault = ProcessFault | StoreFault | LinkFault;

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
    const isPair = draw.chance() < twoAtOnce && second.part !== first.part;
    const round = isPair ? [first, second] : [first];
    const back = Math.max(...round.map((fault) => fault.to));
    if (back > end) return plan;
    plan.push(...round);
    from = inTenths(back + draw.between(calm.between));
  }
}

type Drawer = ReturnType<typeof drawer>;

function drawFault(draw: Drawer, from: number): PlannedFault {
  const drawFrom = <Part, What extends string>(parts: readonly Part[], faults: Record<What, Range>) => {
    const [what, range] = draw.one(Object.entries(faults) as [What, Range][]);
    return { part: draw.one(parts), what, from, to: inTenths(from + draw.between(range)) };
  };
  const group = draw.chance();
  if (group < 0.4) return drawFrom(processNames, processFaults);
  return group < 0.75 ? drawFrom(storeNames, storeFaults) : drawFrom(linkNames, linkFaults);
}

const inTenths = (seconds: number): number => Math.round(seconds * 10) / 10;

function drawer(seed: number) {
  const chance = chances(seed);
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

/** From 0 to below 1, the same for the same seed: Mulberry32, since Math.random takes none. */
function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
