/** The draft of a domain's settings, and the merge of two concurrent changes. */

import type { FieldError } from '#libs/base/terms/problem';
import type { ManagedDomain } from '#libs/tenants/contract';
import { sentence } from '../data/api-error.ts';
import { originFrom } from '../data/typed-origin.ts';

/** The fields as typed. */
export interface DomainDraft {
  name: string;
  origins: string[];
  /** validity of a permission; undefined if the published banner sets it */
  validMonths?: number | null | undefined;
  policyVersion?: string | null | undefined;
}

/** Errors by the field's JSON pointer, such as `/origins/2`. */
type DomainErrors = Record<string, string>;

/** `isPublished`: the published banner sets the validity of permissions. */
export const draftOf = ({ name, origins, ...rest }: DomainDraft, isPublished = false): DomainDraft => ({
  ...{ name, origins },
  ...(!isPublished && { validMonths: rest.validMonths, policyVersion: rest.policyVersion }),
});

/** Normalizes a draft: complete origins without empty lines, so that the service's errors match the form's fields. */
export const cleanDraft = ({ name, origins, ...rest }: DomainDraft): DomainDraft => ({
  ...rest,
  name: name.trim(),
  origins: origins.map((each) => originFrom(each) ?? each.trim()).filter((each) => each !== ''),
});

/** The origins in a pasted text. */
export const originsIn = (text: string): string[] => text.split(/[\s,;]+/).filter((each) => each !== '');

/** Checks a normalized draft for missing fields and invalid origins. The service checks everything else. */
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

/** Errors from the service's response. */
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

/** Fields that both have changed, to different values. */
export const changedFields = (mine: DomainDraft, other: DomainDraft): DomainField[] =>
  domainFields.filter((field) => mine[field] !== undefined && !isSame(field, mine, other));

/** Merges two changes of `before`: fields that only the other person changed take their value. */
export const isMine = (field: DomainField, before: ManagedDomain, mine: DomainDraft): boolean =>
  !isSame(field, before, mine);
