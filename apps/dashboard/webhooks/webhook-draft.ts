/** What somebody has put into the form of a webhook, and what of it is sent. */
import type { FieldError } from '#libs/base/terms/problem';
import type { Decision } from '#libs/base/terms/terms';
import type { WebhookBody, WebhookType } from '#libs/webhooks/contract';
import { sentence } from '../data/api-error.ts';
import { decisions } from '../data/decisions.ts';

export interface Draft {
  url: string;
  types: WebhookType[];
  /** also those to come */
  hasAllDomains: boolean;
  /** those that count otherwise */
  domains: string[];
  decisions: Decision[];
}

type DraftErrors = Partial<Record<'url' | 'types' | 'domains' | 'decisions', string>>;

/** Headers and size are set over HTTP, or on the command line: what is left out stays. */
type Formed = Omit<WebhookBody, 'headers' | 'maxBytes'>;

export const draftOf = ({ url, types, domains, decisions: chosen }: Formed): Draft => ({
  url,
  types,
  hasAllDomains: domains === null || domains === undefined,
  domains: domains ?? [],
  decisions: chosen ?? [...decisions],
});

export const bodyOf = ({ url, types, hasAllDomains, domains, decisions: chosen }: Draft): Required<Formed> => ({
  url: url.trim(),
  types,
  domains: hasAllDomains ? null : domains,
  decisions: !hasEntries({ types }) || chosen.length === decisions.length ? null : chosen,
});

/** Decisions choose among entries, and nothing else. */
export const hasEntries = ({ types }: Pick<Draft, 'types'>): boolean => types.includes('records.sealed');

/** What is not there at all. Everything else is the service's to judge. */
export function missingIn({ url, types, hasAllDomains, domains, decisions: chosen }: Draft): DraftErrors {
  return {
    ...(url.trim() === '' && { url: 'Enter the address of your receiver.' }),
    ...(types.length === 0 && { types: 'Choose at least one.' }),
    ...(!hasAllDomains && domains.length === 0 && { domains: 'Choose at least one domain, or all.' }),
    ...(hasEntries({ types }) && chosen.length === 0 && { decisions: 'Choose at least one.' }),
  };
}

/** What the service found wrong, by field; of several errors in one list the first. */
export function errorsByField(errors: FieldError[]): DraftErrors {
  const found: DraftErrors = {};
  for (const { path, message } of errors) {
    const [, field] = path.split('/');
    if (isField(field)) found[field] ??= sentence(message);
  }
  return found;
}

const isField = (name: string | undefined): name is keyof DraftErrors =>
  name === 'url' || name === 'types' || name === 'domains' || name === 'decisions';
