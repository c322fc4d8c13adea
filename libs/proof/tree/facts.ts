/** Describes what a proof shows, in the same words on the command line and on the page. */
import type { Verified, VerifiedCheckpoint } from './check-file.ts';
import { type Circumstances, circumstanceTexts, type PrivateFields } from './entry.ts';

export type Fact = [name: string, value: string];

const decisions = new Map([
  ['accept_all', 'accepted everything'],
  ['reject_all', 'rejected everything'],
  ['custom', 'chose by category'],
  ['withdraw', 'withdrew consent given before'],
]);

export function headline({ entry, personal }: Verified): string {
  switch (entry.type) {
    case 'record': {
      const who = entry.bot ? 'a crawler or another program on' : 'a visitor of';
      const where = siteOf(personal?.pageUrl) ?? entry.domainId;
      return `On ${moment(entry.decidedAt)}, ${who} ${where} ${decisions.get(entry.decision) ?? entry.decision}.`;
    }
    case 'notice':
      return `On ${moment(entry.firstSeenAt)}, visitors of ${entry.domainId} saw a notice for the first time.`;
    case 'erasure':
      return `On ${dayOf(entry.erasedOn)}, the personal fields of a record of ${entry.domainId} were erased.`;
  }
}

/** The host of the page, which is sealed with the record and more readable than the domain's id. */
function siteOf(pageUrl: string | null | undefined): string | undefined {
  const url = pageUrl && /^https?:/.test(pageUrl) && URL.canParse(pageUrl) ? new URL(pageUrl) : undefined;
  return url?.host;
}

/** `14 August 2026`, independent of the machine's language. */
const dayOf = (date: string): string =>
  new Date(date).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** `14 August 2026, 23:52 UTC`, from RFC 3339 in UTC. */
const moment = (time: string): string => `${dayOf(time)}, ${time.slice(11, 16)} UTC`;

/** The facts in order of importance; absent ones are left out. */
export function factsOf(proven: Verified): Fact[] {
  const { index, size, origin, signedBy } = proven.proven;
  return [
    ...entryFacts(proven),
    ...(proven.circumstances ? circumstanceFacts(proven.circumstances) : []),
    ...(proven.entry.type === 'record' ? personalFacts(proven.personal) : []),
    ...(proven.timestamp ? timestampFacts(proven.timestamp) : []),
    ...some('Not proven', proven.unproven?.length ? proven.unproven.join(', ') : undefined),
    ['Log', origin],
    ['Position', `${index} (counted from 0), in a log of ${size} ${size === 1 ? 'entry' : 'entries'}`],
    ...signedBy.map((key): Fact => ['Signed by', key]),
  ];
}

function entryFacts({ entry, circumstances, notice }: Verified): Fact[] {
  if (entry.type === 'notice') {
    return [
      ['Domain', entry.domainId],
      ['Notice', entry.notice],
      ['First seen', entry.firstSeenAt],
    ];
  }
  if (entry.type === 'erasure') {
    return [
      ['Domain', entry.domainId],
      ['Record', entry.id],
      ['Erased on', entry.erasedOn],
    ];
  }
  return [
    ['Decision', entry.decision],
    ...some('Categories', circumstances?.preferences && categories(circumstances.preferences)),
    ['Domain', entry.domainId],
    ['Record', entry.id],
    ['Decided', entry.decidedAt],
    ['Received', entry.receivedAt],
    ...some('Imported', entry.importedAt),
    ['Source', entry.source],
    ...some('Global Privacy Control', entry.gpc === undefined ? undefined : entry.gpc ? 'on' : 'off'),
    ...some('Crawler', entry.bot ? 'yes' : undefined),
    ...some('Notice', entry.notice),
    ...some('Text of the notice', notice),
  ];
}

/** For example “analytics allowed, marketing denied”. */
export function categories(preferences: Record<string, boolean>): string {
  const allowed = Object.entries(preferences).map(([name, isAllowed]) => `${name} ${isAllowed ? 'allowed' : 'denied'}`);
  return allowed.join(', ') || 'none';
}

const circumstanceFacts = (fields: Circumstances): Fact[] =>
  circumstanceTexts.flatMap(([field, name]) => some(name, fields[field]));

function personalFacts(fields: PrivateFields | null | undefined): Fact[] {
  if (fields === undefined) return [['Other fields', 'in this file only as commitments; a bundle opens them']];
  if (fields === null) return [['Personal fields', 'not opened; the bundle says that they were erased']];
  const names = Object.keys(personalNames) as (keyof PrivateFields)[];
  return names.flatMap((name) => some(personalNames[name], asText(fields[name])));
}

const personalNames: Record<keyof PrivateFields, string> = {
  visitorId: 'Visitor',
  ip: 'IP address',
  userAgent: 'User agent',
  pageUrl: 'Page',
  metadata: 'Metadata',
};

const asText = (value: string | object | null | undefined) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

const timestampFacts = ({ checkpoint, digest, isOfProof }: NonNullable<Verified['timestamp']>): Fact[] => [
  [
    'Time-stamp',
    isOfProof
      ? `of this checkpoint; the authority's signature was not checked here, see below`
      : `of the checkpoint at size ${checkpoint.size}; that the log only grew in between takes a consistency proof`,
  ],
  ['Time-stamped hash', digest],
];

/** For a bundle with a time-stamp: how to check what is not checked here. `file` is the bundle's name. */
export function opensslCommands({ timestamp }: Verified, file: string): string[] {
  if (!timestamp) return [];
  return [
    `node -p 'JSON.parse(fs.readFileSync(0)).timestamp.token' < ${file} | base64 -d > token.tsr`,
    `openssl ts -verify -digest ${timestamp.digest} -in token.tsr -CAfile authority.pem`,
  ];
}

export const checkpointFacts = ({ origin, size, root, signedBy }: VerifiedCheckpoint): Fact[] => [
  ['Log', origin],
  ['Size', `${size} ${size === 1 ? 'entry' : 'entries'}`],
  ['Root', root],
  ...signedBy.map((key): Fact => ['Signed by', key]),
];

export const limits = [
  "A signature proves what the holder of the log's key signed. Against the operator of the log, evidence begins where " +
    "a checkpoint left the operator's hands: a customer kept it, an auditor fetched it, or a time-stamping authority " +
    'signed it.',
  'A decision that was never sent leaves no trace in the log.',
  'The verifier key must come from elsewhere than the proof: from whoever runs the log, or from a copy kept before.',
];

const some = (name: string, value: string | null | undefined): Fact[] =>
  value === undefined || value === null ? [] : [[name, value]];
