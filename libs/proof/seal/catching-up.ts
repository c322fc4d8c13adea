/**
 * Catching up: logs that were halted or restarted get the records of the epochs that they missed. They go through the
 * epochs together, since each epoch has a cost of its own.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '#libs/base/db/errors';
import { chunksOf, groupBy } from '#libs/base/group-by';
import type { Waiting } from '../heads.ts';
import type { Plan, Seal } from './seal.ts';
import { divide, piecesOf, type Step } from './steps.ts';

/** Milliseconds per turn. After at most two turns, sealing goes on with the closed epochs for the other logs. */
const turnTime = 2_500;
/** logs in one turn */
const logsInTurn = 4_096;
/** Milliseconds before a retry while another process is sealing. */
const elsewhereWait = 20;

type CatchingUp = Pick<Seal, 'size' | 'plan' | 'catchUp'>;

/**
 * Returns a function that takes two turns, and returns whether any log got entries or waits from another epoch than before;
 * `waiting`: furthest behind first. The first turn belongs to a sweep from the oldest epoch to the newest, a span at a
 * time, which takes along every log that it passes. The second is for the logs that lack least, which would otherwise wait
 * as long as those that lack most. A log that fails, or has more records in one epoch than fit into a piece, may fall
 * behind the sweep until the sweep returns.
 */
export function createCatchingUp(seal: CatchingUp): (waiting: Waiting[], signal: AbortSignal) => Promise<boolean> {
  /** the epoch that the sweep has reached */
  let swept = 0;
  const takeTurn = createTurn(seal);
  return async (waiting, signal) => {
    const ahead = waiting.filter(({ waitsFrom }) => waitsFrom >= swept);
    const sweep = await takeTurn(ahead.length > 0 ? ahead : waiting, signal);
    swept = sweep.reached;
    const newest = waiting.at(-1)?.waitsFrom ?? 0;
    const nearest = newest < sweep.end ? [] : waiting.filter(({ waitsFrom }) => waitsFrom === newest);
    const turns = nearest.length > 0 ? [sweep, await takeTurn(nearest, signal)] : [sweep];
    const [error] = turns.flatMap(({ errors }) => errors);
    if (error !== undefined) throw error;
    return turns.some(({ hasGrown }) => hasGrown);
  };
}

interface Turn {
  hasGrown: boolean;
  errors: unknown[];
  /** the first epoch after the span */
  end: number;
  /** the epoch that the sweep goes on from */
  reached: number;
}

function createTurn(seal: CatchingUp) {
  /** Domains whose logs failed alone. They go last, since a failure may take longer than a turn. */
  const failed = new Set<number>();
  return async (waiting: Waiting[], signal: AbortSignal): Promise<Turn> => {
    const until = performance.now() + turnTime;
    const from = waiting[0]?.waitsFrom ?? 0;
    let plan: Plan;
    try {
      plan = await seal.plan(waiting.slice(0, logsInTurn));
    } catch (error) {
      return { hasGrown: false, errors: [error], end: from + 1, reached: from + 1 };
    }
    const { steps, end, isCurrent } = plan;
    const goesOn = () => !signal.aborted && performance.now() < until && isCurrent();
    const taken: TurnParts['taken'] = { hasGrown: false, errors: [] };
    const take = createTaking(seal, { isCurrent, goesOn, taken, failed });
    const limit = seal.size.maxRecords();
    const { together, alone } = divide(steps, limit, failed);
    for (const ofEpoch of groupBy(together, ({ epoch }) => epoch).values())
      for (const piece of piecesOf(ofEpoch, limit)) await take(piece);
    const reached = goesOn() ? Math.min(end, waiting[logsInTurn]?.waitsFrom ?? end) : from;
    for (const step of alone) await take([step]);
    return { ...taken, end, reached };
  };
}

interface TurnParts extends Pick<Plan, 'isCurrent'> {
  goesOn(): boolean;
  /** collects the outcome */
  taken: Pick<Turn, 'hasGrown' | 'errors'>;
  failed: Set<number>;
}

function createTaking({ catchUp }: CatchingUp, { isCurrent, goesOn, taken, failed }: TurnParts) {
  const takeAll = async (steps: Step[]): Promise<void> => {
    for (let left = steps; left.length > 0 && goesOn(); ) {
      const caught = await catchUp(left, isCurrent);
      // if workers yielded to each other until the next round, they would catch up more slowly than logs grow
      if (caught === 'elsewhere') await sleep(elsewhereWait, undefined, { ref: false });
      else {
        taken.hasGrown ||= caught.hasGrown;
        if (caught.hasGrown && left.length === 1) for (const { domainNumber } of left) failed.delete(domainNumber);
        left = caught.rest;
      }
    }
  };
  /** If several fail together, they are halved until only the failing ones are left behind. */
  const take = async (steps: Step[]): Promise<void> => {
    try {
      await takeAll(steps);
    } catch (error) {
      const [first, ...others] = steps;
      if (isOutage(error) || !first) taken.errors.push(error);
      else if (others.length > 0) for (const half of chunksOf(steps, Math.ceil(steps.length / 2))) await take(half);
      else {
        taken.errors.push(error);
        failed.add(first.domainNumber);
      }
    }
  };
  return take;
}
