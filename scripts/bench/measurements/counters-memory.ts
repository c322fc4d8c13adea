import { monthsBetween } from '#libs/contract/calendar';
import type { Counter } from '#libs/contract/terms';
import { raise } from '#libs/counters/raise';
import type { Figures } from '../figures.ts';
import type { Stack } from '../stack.ts';

const organizationId = 'org_0123456789abcdef0123';
const domains = 200;
const months = monthsBetween('2025-01-01', '2025-12-31');
/** as many as a month has at most, and its sum */
const days = 31;

/** Bytes of Redis of a domain's counters of a month, every day of which has records. */
export async function countersMemory({ redis, redisBytes }: Stack): Promise<Figures> {
  const before = await redisBytes();
  for (let domain = 0; domain < domains; domain += 1) {
    const domainId = `dom_${String(domain).padStart(20, '0')}`;
    await raise(
      redis,
      months.flatMap((month) => [month, ...daysOf(month)].map((period) => counterOf(domainId, period))),
    );
  }
  const bytes = ((await redisBytes()) - before) / (domains * months.length);
  return { 'capacity: counters of a domain and month': { value: bytes, unit: 'bytes of Redis' } };
}

const daysOf = (month: string): string[] =>
  Array.from({ length: days }, (_, day) => `${month}-${String(day + 1).padStart(2, '0')}`);

const counterOf = (domainId: string, period: string): Counter => ({
  organizationId,
  domainId,
  period,
  accept_all: 6_172,
  reject_all: 3_950,
  custom: 1_728,
  withdraw: 493,
});
