/** What somebody has put into the form of a webhook, and what of it is sent. */
import type { FieldError } from '#libs/base/terms/problem';
import type { Decision } from '#libs/base/terms/terms';
import type { Webhook, WebhookBody, WebhookType } from '#libs/webhooks/contract';
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
  /** those that it has, whose values nobody is shown */
  keepsHeaders: boolean;
  /** that count otherwise: a line `NAME: VALUE` each */
  headers: string;
  maxBytes: string;
  /** where the headers that it has are sent */
  givenUrl: string;
}

const fields = ['url', 'types', 'domains', 'decisions', 'headers', 'maxBytes'] as const;
type DraftErrors = Partial<Record<(typeof fields)[number], string>>;

export const usualBytes = 65_536;

export const newDraft = (types: WebhookType[]): Draft =>
  draftOf({ url: '', types, domains: null, decisions: null, headers: [], maxBytes: usualBytes });

type Formed = Pick<Webhook, 'url' | 'types' | 'domains' | 'decisions' | 'headers' | 'maxBytes'>;

export const draftOf = ({ url, types, domains, decisions: chosen, headers, maxBytes }: Formed): Draft => ({
  url,
  types,
  hasAllDomains: domains === null,
  domains: domains ?? [],
  decisions: chosen ?? [...decisions],
  keepsHeaders: headers.length > 0,
  headers: '',
  maxBytes: String(maxBytes),
  givenUrl: url,
});

export const bodyOf = (draft: Draft): WebhookBody => {
  const { url, types, hasAllDomains, domains, decisions: chosen, keepsHeaders, headers, maxBytes } = draft;
  return {
    url: url.trim(),
    types,
    domains: hasAllDomains ? null : domains,
    decisions: !hasEntries({ types }) || chosen.length === decisions.length ? null : chosen,
    ...(!keepsHeaders && { headers: Object.fromEntries(linesOf(headers)) }),
    maxBytes: Number(maxBytes),
  };
};

/** `NAME: VALUE` by line; what has no colon has no value. */
const linesOf = (text: string): [name: string, value: string][] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => [line.split(':', 1)[0]?.trim() ?? '', line.slice(`${line}:`.indexOf(':') + 1).trim()]);

/** What is kept goes where it went before, and nowhere else. */
export const isElsewhere = ({ url, givenUrl }: Draft): boolean =>
  URL.canParse(url) && new URL(url).origin !== new URL(givenUrl).origin;

/** Decisions choose among entries, and nothing else. */
export const hasEntries = ({ types }: Pick<Draft, 'types'>): boolean => types.includes('records.sealed');

/** What is not there at all. Everything else is the service's to judge. */
export function missingIn(draft: Draft): DraftErrors {
  const { url, types, hasAllDomains, domains, decisions: chosen, keepsHeaders, headers, maxBytes } = draft;
  const lines = keepsHeaders ? [] : linesOf(headers);
  const names = new Set(lines.map(([name]) => name.toLowerCase()));
  return {
    ...(url.trim() === '' && { url: 'Enter the address of your receiver.' }),
    ...(types.length === 0 && { types: 'Choose at least one.' }),
    ...(!hasAllDomains && domains.length === 0 && { domains: 'Choose at least one domain, or all.' }),
    ...(hasEntries({ types }) && chosen.length === 0 && { decisions: 'Choose at least one.' }),
    ...(lines.some(([name, value]) => name === '' || value === '') && { headers: 'Write each as “NAME: VALUE”.' }),
    ...(names.size < lines.length && { headers: 'Give each name once.' }),
    ...(!/^\d+$/.test(maxBytes.trim()) && { maxBytes: 'Enter a number of bytes.' }),
  };
}

/** What the service found wrong, by field; of several errors in one list the first. */
export function errorsByField(errors: FieldError[]): DraftErrors {
  const found: DraftErrors = {};
  for (const { path, message } of errors) {
    const [, field, entry] = path.split('/');
    const known = fields.find((each) => each === field);
    // of one header among several
    if (known) found[known] ??= known === 'headers' && entry ? `${entry} ${message}.` : sentence(message);
  }
  return found;
}
