/** All that is stored about a visitor, as the text of one JSON object, made as it is sent: it may be long. */
import type { Reads } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';
import { timeOf } from '#libs/base/terms/calendar';
import { findNoticeTexts, type NoticeText } from '#libs/notices/documents';
import { findLog } from '#libs/proof/published';
import type { Visitor } from './contract.ts';
import { bundlesOf, type Differing, proofsOf } from './visitor-proofs.ts';
import { newestFirst, type VisitorDomain } from './visitor-records.ts';

/** of at most 16 KiB each */
const noticesAtOnce = 50;

/** `domains`: those where the visitor has records. */
export async function* allAbout(
  db: Reads,
  visitorId: string,
  domains: VisitorDomain[],
  onDiffers: (differing: Differing) => void,
): AsyncGenerator<string> {
  const generatedAt = new Date().toISOString();
  yield `{"visitorId":${JSON.stringify(visitorId)},"generatedAt":"${generatedAt}","current":${JSON.stringify(currentOf(domains))}`;
  yield ',"records":[';
  /** by hash, a domain whose visitor was shown it */
  const shown = new Map<string, string>();
  yield* listed(newestFirst(db, domains, visitorId), (page) =>
    page.map(({ record }) => {
      if (record.notice !== null) shown.set(record.notice, record.domainId);
      return JSON.stringify(record);
    }),
  );
  yield '],"notices":{';
  yield* listed(noticesOf(db, shown), (texts) =>
    texts.map(({ notice, text }) => `${JSON.stringify(notice)}:${JSON.stringify(text)}`),
  );
  yield '},"proofs":{';
  yield* listed(newestFirst(db, domains, visitorId), async (page) =>
    Array.from(await proofsOf(db, page, onDiffers), ([id, proof]) => `${JSON.stringify(id)}:${JSON.stringify(proof)}`),
  );
  yield '},"bundles":{';
  // one that differs was reported with its proof
  yield* listed(newestFirst(db, domains, visitorId), async (page) =>
    Array.from(await bundlesOf(db, page, () => {}), ([id, bundle]) => `${JSON.stringify(id)}:${bundle}`),
  );
  yield `},"verifierKeys":${JSON.stringify(await keysOf(db, domains))}}`;
}

/** What `textsOf` makes of each page, separated by commas. */
async function* listed<Page>(pages: AsyncIterable<Page>, textsOf: (page: Page) => string[] | Promise<string[]>) {
  let separator = '';
  for await (const page of pages) {
    const texts = await textsOf(page);
    if (texts.length === 0) continue;
    yield separator + texts.join(',');
    separator = ',';
  }
}

const currentOf = (domains: VisitorDomain[]): Visitor['current'] =>
  Object.fromEntries(
    domains.map(({ domainId, record: { id, decision, preferences } }) => [
      domainId,
      { decision, preferences, decidedAt: new Date(timeOf(id)).toISOString() },
    ]),
  );

async function* noticesOf(db: Reads, shown: Map<string, string>): AsyncGenerator<NoticeText[]> {
  const wanted = Array.from(shown, ([notice, domainId]) => ({ notice, domainId }));
  for (const some of chunksOf(wanted, noticesAtOnce)) yield db.read((sql) => findNoticeTexts(sql, some));
}

/** Of all logs of a domain, since an earlier one may have a record. */
async function keysOf(db: Reads, domains: VisitorDomain[]): Promise<Visitor['verifierKeys']> {
  const keys: Visitor['verifierKeys'] = {};
  for (const { domainId } of domains) {
    const newest = await db.read((sql) => findLog(sql, domainId));
    const own: string[] = [];
    for (let log = newest?.log ?? 0; log > 0; log -= 1) {
      own.push(...((await db.read((sql) => findLog(sql, domainId, log)))?.verifierKeys ?? []));
    }
    if (own.length > 0) keys[domainId] = own;
  }
  return keys;
}
