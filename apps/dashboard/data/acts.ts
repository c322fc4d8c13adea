/** Administrative acts in words. */
import type { ActsPage } from '#libs/contract/manage';
import type { Organization } from '#libs/contract/statistics';
import { count } from '../format.ts';

export type Act = ActsPage['acts'][number];

/** Names come from outside and are set apart, whatever characters they have. */
export type Part = string | { name: string };

export interface Told {
  what: Part[];
  more?: Part[] | undefined;
}

const say = (texts: TemplateStringsArray, ...names: string[]): Part[] =>
  texts.flatMap((text, at): Part[] => {
    const name = names[at];
    return name === undefined ? [text] : [text, { name }];
  });

export function tellAct({ act, subject, details }: Act, { domains }: Organization): Told {
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
  const [domain, host] = [nameOf(ofDomain), hostIn(text('url'))];
  switch (act) {
    case 'org.create':
      return { what: say`Created the organization ${text('name')}`, more: say`on the plan ${text('plan')}` };
    case 'org.rename':
      return { what: say`Renamed the organization to ${text('name')}` };
    case 'org.plan':
      return { what: say`Changed the plan to ${text('plan')}` };
    case 'org.revoke-token':
      return { what: say`Revoked the access token ${text('jti')}` };
    case 'org.revoke-tokens':
      return { what: ['Revoked all access tokens'] };
    case 'domain.create':
      return { what: say`Created the domain ${text('name') || nameOf(subject)}`, more: originsOf(details) };
    case 'domain.update': {
      const isRenamed = 'name' in details;
      return {
        what: isRenamed
          ? say`Renamed the domain ${subject} to ${text('name')}`
          : say`Changed the origins of ${nameOf(subject)}`,
        more: originsOf(details),
      };
    }
    case 'domain.archive':
      return { what: say`Archived the domain ${nameOf(subject)}`, more: revoked(number('keysRevoked')) };
    case 'domain.restore':
      return { what: say`Restored the domain ${nameOf(subject)}` };
    case 'key.create':
      return { what: say`Made the key ${`${subject}…`} of ${domain}` };
    case 'key.revoke':
      return { what: say`Revoked the key ${`${subject}…`} of ${domain}` };
    case 'records.import':
      return { what: say`Imported ${count(number('queued'))} records into ${nameOf(subject)}` };
    case 'records.export':
      return {
        what: ofDomain === '' ? ['Exported records of all domains'] : say`Exported records of ${domain}`,
        more: say`as ${text('format').toUpperCase()}`,
      };
    case 'notice.put':
      return { what: say`Added a notice to ${nameOf(subject)}`, more: say`SHA-256 ${text('notice')}` };
    case 'log.restart':
      return {
        what: say`Began log ${text('log')} of ${nameOf(subject)}`,
        more: say`after ${count(number('size'))} entries`,
      };
    case 'log.confirm':
      return { what: say`Confirmed log ${text('log')} of ${nameOf(subject)}` };
    case 'webhook.create':
      return { what: say`Created the webhook to ${host}` };
    case 'webhook.update':
      return { what: say`${updateOf(details)} the webhook ${host || subject}` };
    case 'webhook.delete':
      return { what: say`Deleted the webhook to ${host}` };
    case 'webhook.rotate':
      return { what: say`Made a new secret for the webhook ${subject}` };
    case 'webhook.test':
      return { what: say`Sent a test to the webhook ${subject}` };
    case 'webhook.replay':
      return { what: say`Replayed ${domain} from entry ${text('from')} on`, more: say`to the webhook ${subject}` };
    case 'webhook.disable':
      return { what: say`Paused the webhook ${subject}`, more: say`${text('reason')}` };
    case 'visitor.read':
      return { what: say`Looked up a visitor’s records of ${ofDomain === '' ? 'all domains' : domain}` };
    case 'visitor.access':
      return { what: say`Read everything about a visitor of ${ofDomain === '' ? 'all domains' : domain}` };
    case 'visitor.erase':
      return {
        what: say`Erased a visitor of ${ofDomain === '' ? 'all domains' : domain}`,
        more: say`${text('erasureId')}`,
      };
    default:
      // of a newer release
      return { what: say`${act} ${subject}` };
  }
}

function originsOf({ origins }: Act['details']): Part[] | undefined {
  if (!Array.isArray(origins)) return undefined;
  return origins.length === 0 ? ['any origin may record'] : say`Origins: ${origins.join(', ')}`;
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
