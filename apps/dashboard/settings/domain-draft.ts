/** What somebody has put into the form of a domain, and what two people have changed at once. */

import type { FieldError } from '#libs/base/terms/problem';
import type { ManagedDomain } from '#libs/tenants/contract';
import { sentence } from '../data/api-error.ts';
import { originFrom } from '../data/typed-origin.ts';

/** As it was typed. */
export interface DomainDraft {
  name: string;
  origins: string[];
  /** Of permissions; undefined where the published banner sets them. */
  validMonths?: number | null | undefined;
  policyVersion?: string | null | undefined;
}

/** By the field's JSON pointer, such as `/origins/2`. */
type DomainErrors = Record<string, string>;

/** `isPublished`: the published banner sets how long permissions are valid. */
export const draftOf = ({ name, origins, ...rest }: DomainDraft, isPublished = false): DomainDraft => ({
  ...{ name, origins },
  ...(!isPublished && { validMonths: rest.validMonths, policyVersion: rest.policyVersion }),
});

/** What is sent: origins as they are meant, without empty lines, so that the service counts them as the form does. */
export const cleanDraft = ({ name, origins, ...rest }: DomainDraft): DomainDraft => ({
  ...rest,
  name: name.trim(),
  origins: origins.map((each) => originFrom(each) ?? each.trim()).filter((each) => each !== ''),
});

/** One or more, from what was pasted. */
export const originsIn = (text: string): string[] => text.split(/[\s,;]+/).filter((each) => each !== '');

/** Of a clean draft: what is missing, and what is wrong with origins. Everything else is the service's to judge. */
export function errorsIn({ name, origins }: DomainDraft): DomainErrors {
  const wrong = origins.flatMap((origin, at) => {
    const error = originError(origin, origins.slice(0, at));
    return error === undefined ? [] : [[`/origins/${at}`, error]];
  });
  return { ...(name === '' && { '/name': 'Enter a name.' }), ...Object.fromEntries(wrong) };
}

function originError(origin: string, before: string[]): string | undefined {
  if (originFrom(origin) !== undefined) return before.includes(origin) ? 'It is on the list already.' : undefined;
  return origin.includes('*')
    ? 'A * stands for subdomains only, such as https://*.example.com.'
    : 'Not an address of a website, such as https://www.example.com.';
}

/** What the service found wrong. */
export const errorsByPath = (errors: FieldError[]): DomainErrors =>
  Object.fromEntries(
    errors
      .filter(({ path }) => /^\/(name|origins|validMonths|policyVersion)\b/.test(path))
      .map(({ path, message }) => [path, sentence(message)]),
  );

export const domainFields = ['name', 'origins', 'validMonths', 'policyVersion'] as const;
export type DomainField = (typeof domainFields)[number];

export const isSame = (field: DomainField, one: DomainDraft, other: DomainDraft): boolean =>
  JSON.stringify(one[field]) === JSON.stringify(other[field]);

/** Of those that are in `mine`. */
export const changedFields = (mine: DomainDraft, other: DomainDraft): DomainField[] =>
  domainFields.filter((field) => mine[field] !== undefined && !isSame(field, mine, other));

/** Both are based on `before`: what only the other person changed is theirs. */
export const isMine = (field: DomainField, before: ManagedDomain, mine: DomainDraft): boolean =>
  !isSame(field, before, mine);
