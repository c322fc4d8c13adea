/** The draft of a webhook, and the request body made from it. */
import type { FieldError } from '#libs/base/terms/problem';
import type { Decision } from '#libs/base/terms/terms';
import type { Webhook, WebhookBody, WebhookType } from '#libs/webhooks/contract';
import { sentence } from '../data/api-error.ts';
import { decisions } from '../data/decisions.ts';

export interface Draft {
  url: string;
  types: WebhookType[];
  /** including future ones */
  hasAllDomains: boolean;
  /** chosen domains, unless all are covered */
  domains: string[];
  decisions: Decision[];
  /** keeps the stored headers, whose values are not shown */
  keepsHeaders: boolean;
  /** new headers otherwise: one line `NAME: VALUE` each */
  headers: string;
  maxBytes: string;
  /** the URL that the stored headers are sent to */
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

/** Parses one `NAME: VALUE` per line; a line without a colon has no value. */
const linesOf = (text: string): [name: string, value: string][] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => [line.split(':', 1)[0]?.trim() ?? '', line.slice(`${line}:`.indexOf(':') + 1).trim()]);

/** Stored headers are only sent to the same host as before. */
export const isElsewhere = ({ url, givenUrl }: Draft): boolean =>
  URL.canParse(url) && new URL(url).origin !== new URL(givenUrl).origin;

/** The filter by decision only applies to entries. */
export const hasEntries = ({ types }: Pick<Draft, 'types'>): boolean => types.includes('records.sealed');

/** Checks for missing fields. The service checks everything else. */
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

/** Errors from the service's response by field; of several errors in a list, the first one. */
export function errorsByField(errors: FieldError[]): DraftErrors {
  const found: DraftErrors = {};
  for (const { path, message } of errors) {
    const [, field, entry] = path.split('/');
    const known = fields.find((each) => each === field);
    // an error of one header in the list
    if (known) found[known] ??= known === 'headers' && entry ? `${entry} ${message}.` : sentence(message);
  }
  return found;
}
