/** How often the demo's banners were shown: to each visitor who answered one, and to some who did not. */
import { dayOf } from '#libs/base/terms/calendar';
import { timeOf } from '#libs/base/terms/uuid';
import type { NewRecord } from '#libs/record/contract';
import { createDisplayTally } from '#libs/stats/display-counter';
import type { Displays } from '#libs/stats/stored-displays';
import { randomOf } from './chance.ts';
import { unansweredFor, variantOf } from './circumstances.ts';

export function displaysOf(records: readonly NewRecord[]): Displays[] {
  const any = Number.POSITIVE_INFINITY;
  const tally = createDisplayTally({ perDomain: any, perOrganization: any, inAll: any });
  for (const { id, domainId, source, bot, variant, bannerVersion, language } of records) {
    if (source !== 'banner' || bot) continue;
    const time = timeOf(id);
    const on = { domainId, organizationId: '' };
    tally.add(on, time, { bannerVersion, language, variant });
    const random = randomOf('unanswered', id);
    if (random() >= unansweredFor(dayOf(time))) continue;
    tally.add(on, time, { bannerVersion, language, variant: variant && variantOf(dayOf(time), random()) });
  }
  return tally.take();
}
