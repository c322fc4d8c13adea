/**
 * Limits on guessing. Passwords are hashed one at a time, and client networks take turns. Failures are limited per network
 * (an IPv4 address or a /64), and per account within a /24 or /48. Failures from many networks only slow an account down,
 * so that nobody can lock its owner out.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { clientAddress, network, storedAddress } from '#libs/base/http/client-address';
import type { Context } from '#libs/base/http/context';
import { createLimiter } from '#libs/base/http/limiter';
import { Crowded, createSlots, type Slots } from '#libs/base/slots';
import { Problem, unavailable } from '#libs/base/terms/problem';
import { endOf } from '#libs/tenants/shared-slots';
import type { PeopleMetrics } from './metrics.ts';
import { type Cost, hashPassword, isPassword, requireStrong } from './passwords.ts';
import type { Person } from './people.ts';

/** waiting hashes: in all, and per network; the first also limits waiting passkey checks per network */
const [mostWaiting, mostOfNetwork] = [20, 10];
/** failures of an account in 15 minutes: allowed from one /24 or /48; and from everywhere, before it is slowed down */
const [mostOfBoth, mostOfAccount] = [10, 20];
/** milliseconds */
const slowedBy = 2_000;

export interface Attempts {
  /** Checks and hashes a new password. `about`: words that make it easy to guess. Throws a 400 for a weak one. */
  newPassword(ctx: Context, password: string, about: string[]): Promise<string>;
  /** Resolves to the person that `find` finds, or undefined if the password is not theirs. Throws a 429 beyond the limits. */
  password(
    ctx: Context,
    given: { email: string; password: string },
    find: () => Promise<Person | undefined>,
  ): Promise<Person | undefined>;
  /** Passkeys cannot be guessed, so failures are only counted. Throws a 429 if too many of a network are waiting. */
  passkey<T>(ctx: Context, work: () => Promise<T | undefined>): Promise<T | undefined>;
  /** Runs the lookup of a link or session by its 256-bit secret. Failures count only against the network. */
  secret<T>(ctx: Context, kind: 'link' | 'session', work: () => Promise<T | undefined>): Promise<T | undefined>;
}

/** `limit`: failures per minute and network; 0: unlimited. */
export function createAttempts(limit: number, metrics: PeopleMetrics, cost?: Cost): Attempts {
  const quarter = {
    per: 'quarter',
    detail: 'too many failed attempts; try again in 15 minutes, or sign in with a passkey',
  } as const;
  const detail = `at most ${limit} failures a minute from one address`;
  const ofNetwork = createLimiter({ name: 'failed-sign-in', limit, detail });
  const ofBoth = createLimiter({ name: 'failed-password', limit: limit && mostOfBoth, ...quarter });
  const ofAccount = createLimiter({ name: 'failed-account', limit: limit && mostOfAccount, ...quarter });

  const turns = createSlots({ slots: 1, waiting: mostOfNetwork });
  const checks = createSlots({ slots: 4, share: 2, waiting: mostWaiting });
  let waiting = 0;
  const inTurn = async <T>(ctx: Context, work: () => Promise<T>): Promise<T> => {
    if (waiting >= mostWaiting) throw crowded();
    waiting += 1;
    const leave = await slotIn(turns, ctx).finally(() => {
      waiting -= 1;
    });
    try {
      metrics.passwordHashes.inc();
      const done = await work();
      // nothing is stored for a client that no longer waits for the response
      const end = endOf(ctx);
      if (end.aborted) throw hasEnded(end.reason);
      return done;
    } finally {
      leave();
    }
  };

  return {
    newPassword: async (ctx, password, about) => {
      await requireStrong(password, about);
      return inTurn(ctx, () => hashPassword(password, cost));
    },
    password: async (ctx, { email, password }, find) => {
      ofNetwork.check(ctx, networkOf(ctx));
      const both = JSON.stringify([blockOf(ctx), email]);
      // counted before the check, because many may be sent at once
      ofBoth.admit(ctx, both);
      let isWrong = false;
      try {
        if (ofAccount.isReached(email)) await pause(slowedBy);
        const found = await find();
        isWrong = !(await inTurn(ctx, () => isPassword(password, found?.password, cost)));
        return isWrong ? undefined : found;
      } finally {
        if (isWrong) {
          ofNetwork.count(networkOf(ctx));
          ofAccount.count(email);
          metrics.failedSignIns.inc({ with: 'password' });
        } else ofBoth.takeBack(both);
      }
    },
    passkey: async (ctx, work) => {
      const leave = await slotIn(checks, ctx);
      const found = await work().finally(leave);
      if (found === undefined) metrics.failedSignIns.inc({ with: 'passkey' });
      return found;
    },
    secret: async (ctx, kind, work) => {
      ofNetwork.check(ctx, networkOf(ctx));
      const found = await work();
      if (found !== undefined) return found;
      ofNetwork.count(networkOf(ctx));
      metrics.failedSignIns.inc({ with: kind });
      return undefined;
    },
  };
}

/** Waits for a slot; client networks take turns. */
const slotIn = (slots: Slots, ctx: Context): Promise<() => void> =>
  slots.take(networkOf(ctx), endOf(ctx)).catch((error: unknown) => {
    throw error instanceof Crowded ? crowded(error) : hasEnded(error);
  });

const networkOf = (ctx: Context): string => network(clientAddress(ctx));
/** /24 or /48 */
const blockOf = (ctx: Context): string =>
  storedAddress(clientAddress(ctx), { mode: 'truncated', hashKey: undefined }) ?? '';

const crowded = (cause?: unknown) =>
  new Problem('rate_limited', 'too many people are signing in; try again', { cause, headers: { 'Retry-After': '2' } });
const hasEnded = (cause: unknown) =>
  unavailable('the service is busy with other sign-ins; try again in a moment', { cause, elsewhere: true });
