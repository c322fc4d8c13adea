/**
 * All that is stored about a visitor, as the text of one JSON object that is made while it is sent, since it may be
 * long.
 */
import type { Reads } from '#libs/base/db/database';
import { chunksOf } from '#libs/base/group-by';
import { timeOf } from '#libs/base/terms/calendar';
import { findNoticeTexts, type NoticeText } from '#libs/notices/documents';
import type { FoundRecord } from '#libs/proof/positions';
import { findLog } from '#libs/proof/published';
import type { Visitor } from './contract.ts';
import { bundlesOf, type Differing, placeOf, proofsOf } from './visitor-proofs.ts';
import { newestFirst, type VisitorDomain } from './visitor-records.ts';

/** documents of at most 16 KiB each */
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
  /** `hash domain`: a domain may lack the document that another one has */
  const shown = new Set<string>();
  yield* listed(newestFirst(db, domains, visitorId), (page) =>
    page.map(({ record }) => {
      if (record.notice !== null) shown.add(`${record.notice} ${record.domainId}`);
      return JSON.stringify(record);
    }),
  );
  yield '],"notices":{';
  yield* listed(noticesOf(db, shown), (texts) =>
    texts.map(({ notice, text }) => `${JSON.stringify(notice)}:${JSON.stringify(text)}`),
  );
  yield '},"proofs":{';
  yield* listed(
    newestFirst(db, domains, visitorId),
    naming(async (page) => {
      const proofs = await proofsOf(db, page, onDiffers);
      return new Map(Array.from(proofs, ([place, proof]) => [place, JSON.stringify(proof)]));
    }),
  );
  yield '},"bundles":{';
  // differing records were already reported while their proofs were made
  yield* listed(
    newestFirst(db, domains, visitorId),
    naming((page) => bundlesOf(db, page, () => {})),
  );
  yield `},"verifierKeys":${JSON.stringify(await keysOf(db, domains))}}`;
}

/**
 * Names the texts of each page by the record's id. Records of different domains may share an id. They come one after the
 * other, and all but the first are named `domainId/recordId`.
 */
function naming(textsOf: (page: FoundRecord[]) => Promise<Map<string, string>>) {
  let before = '';
  return async (page: FoundRecord[]): Promise<string[]> => {
    const texts = await textsOf(page);
    return page.flatMap((each) => {
      const { id } = each.record;
      const name = id === before ? placeOf(each) : id;
      before = id;
      const text = texts.get(placeOf(each));
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
    });
  };
}

/** The texts of all pages, separated by commas. */
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

async function* noticesOf(db: Reads, shown: Set<string>): AsyncGenerator<NoticeText[]> {
  const sent = new Set<string>();
  const isNew = ({ notice }: NoticeText): boolean => !sent.has(notice) && sent.add(notice).has(notice);
  for (const some of chunksOf([...shown], noticesAtOnce)) {
    const wanted = some.map((each) => each.split(' ')).map(([notice = '', domainId = '']) => ({ notice, domainId }));
    const found = await db.read((sql) =>
      findNoticeTexts(
        sql,
        wanted.filter(({ notice }) => !sent.has(notice)),
      ),
    );
    yield found.filter(isNew);
  }
}

/** The keys of all logs of a domain, since an earlier log may have a record. */
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
