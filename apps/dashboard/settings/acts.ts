/** Descriptions of administrative acts. */

import type { Organization } from '#libs/stats/contract';
import type { ActsPage } from '#libs/tenants/contract';
import { mayReadVisitors } from '../data/scopes.ts';
import { count, counted } from '../format.ts';

export type Act = ActsPage['acts'][number];

/** Names come from outside, so they are isolated from the text around them. An erasure links to its receipt. */
export type Part = string | { name: string; isErasure?: true };

interface Description {
  what: Part[];
  more?: Part[] | undefined;
}

const say = (texts: TemplateStringsArray, ...names: string[]): Part[] =>
  texts.flatMap((text, at): Part[] => {
    const name = names[at];
    return name === undefined ? [text] : [text, { name }];
  });

/** Ways of reading the log. */
const logReads = new Map([
  ['records', 'in the list'],
  ['record', 'by id'],
  ['proof', 'with proof'],
  ['entries', 'as entries'],
  ['feed', 'in the feed'],
  ['org-stats', 'the newest ones'],
]);

/** Acts in the filter. */
export const actNames: Record<string, string> = {
  'log.read': 'Read the log',
  'visitor.read': 'Looked up a visitor’s records',
  'visitor.access': 'Read everything about a visitor',
  'visitor.erase': 'Erased a visitor',
  'records.export': 'Exported records',
  'records.import': 'Imported records',
  'token.create': 'Issued an access token',
  'org.revoke-token': 'Revoked an access token',
  'org.revoke-tokens': 'Revoked all access tokens',
  'org.create': 'Created the organization',
  'org.rename': 'Renamed the organization',
  'org.plan': 'Changed the plan',
  'domain.create': 'Created a domain',
  'domain.update': 'Changed a domain',
  'domain.archive': 'Archived a domain',
  'domain.restore': 'Restored a domain',
  'person.create': 'Added or invited a person',
  'person.invite': 'Invited a person again',
  'person.join': 'Accepted an invitation',
  'person.update': 'Changed what a person may do',
  'person.reset': 'Created a link for a new password',
  'person.delete': 'Removed a person',
  'passkey.create': 'Added a passkey',
  'passkey.delete': 'Removed a passkey',
  'key.create': 'Created a key',
  'key.revoke': 'Revoked a key',
  'banner.publish': 'Published a banner',
  'site.check': 'Checked a site',
  'notice.put': 'Added a notice',
  'log.restart': 'Started a new log',
  'log.confirm': 'Signed off a log',
  'webhook.create': 'Created a webhook',
  'webhook.update': 'Changed a webhook',
  'webhook.delete': 'Deleted a webhook',
  'webhook.rotate': 'Created a new secret for a webhook',
  'webhook.test': 'Sent a test to a webhook',
  'webhook.retry': 'Retried messages to a webhook',
  'webhook.replay': 'Replayed entries to a webhook',
  'webhook.disable': 'A failing webhook was paused',
};

/** `person`: the name of the person that the act is about. */
export function describeAct({ act, subject, details }: Act, organization: Organization, person = subject): Description {
  const { organizationId, domains } = organization;
  const nameOf = (domainId: string) => domains.find((each) => each.domainId === domainId)?.name ?? domainId;
  const text = (field: string) => {
    const value = details[field];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const number = (field: string) => {
    const value = details[field];
    return typeof value === 'number' ? value : 0;
  };
  const ofDomain = text('domainId');
  const [domain, host, own] = [nameOf(ofDomain), hostIn(text('url')), nameOf(subject)];
  const read = subject === organizationId ? 'all domains' : own;
  const where = ofDomain === '' ? 'all domains' : domain;
  const descriptions: Record<string, () => Description> = {
    'org.create': () => ({
      what: say`Created the organization ${text('name')}`,
      more: say`on the plan ${text('plan')}`,
    }),
    'org.rename': () => ({ what: say`Renamed the organization to ${text('name')}` }),
    'org.plan': () => ({ what: say`Changed the plan to ${text('plan')}` }),
    'org.revoke-token': () => ({ what: say`Revoked the access token ${text('jti')}` }),
    'org.revoke-tokens': () => ({ what: ['Revoked all access tokens'] }),
    'domain.create': () => ({ what: say`Created the domain ${text('name') || own}`, more: originsOf(details) }),
    'domain.update': () => ({
      what:
        'name' in details
          ? say`Renamed the domain ${subject} to ${text('name')}`
          : 'origins' in details
            ? say`Changed the origins of ${own}`
            : say`Changed how long permissions are valid on ${own}`,
      more: originsOf(details),
    }),
    'domain.archive': () => ({ what: say`Archived the domain ${own}`, more: revoked(number('keysRevoked')) }),
    'domain.restore': () => ({ what: say`Restored the domain ${own}` }),
    'person.create': () => ({ what: say`Added ${text('email')}`, more: scopesOf(details) }),
    'person.invite': () => ({ what: say`Invited ${person} again` }),
    'person.join': () => ({ what: ['Accepted an invitation'] }),
    'person.update': () => ({ what: say`Changed what ${person} may do`, more: scopesOf(details) }),
    'person.reset': () => ({ what: say`Created a link for a new password of ${person}` }),
    'person.delete': () => ({ what: say`Removed ${person}` }),
    'passkey.create': () => ({ what: say`Added the passkey ${text('name')}` }),
    'passkey.delete': () => ({ what: say`Removed the passkey ${text('name')}` }),
    'key.create': () => ({ what: say`Created the key ${`${subject}…`} of ${domain}` }),
    'key.revoke': () => ({ what: say`Revoked the key ${`${subject}…`} of ${domain}` }),
    'records.import': () => ({
      what: say`Imported ${counted(number('queued'), 'record')} into ${own}`,
      ...(details.isComplete === false && { more: say`not finished; some more may be stored` }),
    }),
    'records.export': () => ({
      what: ofDomain === '' ? ['Exported records of all domains'] : say`Exported records of ${domain}`,
      more: say`as ${text('format').toUpperCase()}`,
    }),
    'banner.publish': () => ({
      what: say`Published version ${text('version')} of the banner of ${own}`,
      more: publishedAs(text('restored'), text('note')),
    }),
    'site.check': () => ({ what: say`Checked the site ${own}`, more: say`SHA-256 ${text('sha256')}` }),
    'notice.put': () => ({ what: say`Added a notice to ${own}`, more: say`SHA-256 ${text('notice')}` }),
    'log.restart': () => ({
      what: say`Started log ${text('log')} of ${own}`,
      more: say`after ${counted(number('size'), 'entry', 'entries')}`,
    }),
    'log.confirm': () => ({ what: say`Signed off log ${text('log')} of ${own}` }),
    'webhook.create': () => ({ what: say`Created the webhook to ${host}` }),
    'webhook.update': () => ({ what: say`${updateOf(details)} the webhook ${host || subject}` }),
    'webhook.delete': () => ({ what: say`Deleted the webhook to ${host}` }),
    'webhook.rotate': () => ({ what: say`Created a new secret for the webhook ${subject}` }),
    'webhook.test': () => ({ what: say`Sent a test to the webhook ${subject}` }),
    'webhook.retry': () => ({
      what: say`Retried ${counted(number('messages'), 'message')} to the webhook ${subject}`,
    }),
    'webhook.replay': () => ({
      what: say`Replayed ${domain} from entry ${text('from')} on`,
      more: say`to the webhook ${subject}`,
    }),
    'webhook.disable': () => ({ what: say`Paused the webhook ${subject}`, more: say`${text('reason')}` }),
    'token.create': () => ({ what: say`Issued an access token to ${text('sub')}`, more: say`for ${text('scope')}` }),
    'log.read': () => ({
      what: say`Read the log of ${read}`,
      more: [
        [counted(number('records'), 'record'), logReads.get(text('what')) ?? text('what')].filter(Boolean).join(', '),
      ],
    }),
    'visitor.read': () => ({ what: say`Looked up a visitor’s records of ${where}` }),
    'visitor.access': () => ({ what: say`Read everything about a visitor of ${where}` }),
    'visitor.erase': () => ({
      what: say`Erased a visitor of ${where}`,
      more: receiptOf(text('erasureId'), organization),
    }),
  };
  // an act without a description comes from a newer release
  return descriptions[act]?.() ?? { what: say`${act} ${subject}` };
}

function receiptOf(erasureId: string, organization: Organization): Part[] {
  return mayReadVisitors(organization) ? ['Receipt: ', { name: erasureId, isErasure: true }] : [{ name: erasureId }];
}

function publishedAs(restored: string, note: string): Part[] | undefined {
  const said = [restored && `version ${restored} again`, note].filter(Boolean).join(': ');
  return said === '' ? undefined : say`${said}`;
}

function originsOf({ origins }: Act['details']): Part[] | undefined {
  if (!Array.isArray(origins)) return undefined;
  return origins.length === 0 ? ['any origin may record'] : say`Origins: ${origins.join(', ')}`;
}

function scopesOf({ scopes }: Act['details']): Part[] | undefined {
  return Array.isArray(scopes) ? say`Scopes: ${scopes.join(', ')}` : undefined;
}

function revoked(keys: number): Part[] | undefined {
  if (keys === 0) return undefined;
  return [keys === 1 ? 'its key was revoked' : `its ${count(keys)} keys were revoked`];
}

function updateOf(details: Act['details']): string {
  if (Object.keys(details).length === 1 && 'enabled' in details) return details.enabled ? 'Resumed' : 'Paused';
  return 'Changed';
}

const hostIn = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
