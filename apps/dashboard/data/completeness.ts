/** The time up to which groups are complete, and the records that they leave out. */
import { dayOf } from '#libs/base/terms/calendar';
import type { DomainStats } from '#libs/stats/contract';
import { count, dateOf, hourAndMinute } from '../format.ts';
import { now } from './service-clock.ts';

export function completeness({ through, bots = 0 }: DomainStats): string {
  const many = bots === 0 ? 'no decisions' : bots === 1 ? '1 decision' : `${count(bots)} decisions`;
  const crawlers = `Without crawlers, which sent ${many}.`;
  if (!through) return `The first figures are being prepared. ${crawlers}`;
  const day = through.slice(0, 10) === dayOf(now()) ? '' : `${dateOf(through)}, `;
  return `Complete until ${day}${hourAndMinute(through)} UTC. ${crawlers}`;
}
