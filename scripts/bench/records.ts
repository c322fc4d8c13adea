/** Records as the API queues them, for backlogs that no API made. */
import type { NewRecord } from '#libs/contract/record';
import { decisions } from '#libs/contract/terms';
import { makeIdAt } from '#libs/contract/uuid';
import { makeBody, type Site, siteOf, userAgent, visitorNumber } from './bodies.ts';

export function makeRecord(sites: Site[], index: number): NewRecord {
  const { decision, pageUrl, ...body } = makeBody(index, visitorNumber(index));
  const now = Date.now();
  return {
    id: makeIdAt(now),
    domainId: siteOf(sites, index).domainId,
    decision: decisions.find((each) => each === decision) ?? 'custom',
    receivedAt: new Date(now).toISOString(),
    source: 'banner',
    ...body,
    pageUrl: pageUrl.slice(0, pageUrl.indexOf('?')),
    ip: '127.0.0.0',
    userAgent,
  };
}

export const makeRecords = (sites: Site[], first: number, count: number): NewRecord[] =>
  Array.from({ length: count }, (_, at) => makeRecord(sites, first + at));
