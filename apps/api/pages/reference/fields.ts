/** Tables of body fields and parameters: name, type, rules and description. */
import { escapeHtml } from '#libs/base/http/html';
import { code, inline } from './markup.ts';
import type { Field, Parameter } from './openapi-document.ts';

const nameIn = (reference: string): string => reference.split('/').at(-1) ?? '';

/** `string`, `array of FullRecord`, `"day" or "month"`, … */
function typeOf(field: Field): string {
  const { $ref, const: only, enum: values, anyOf, oneOf, items, additionalProperties } = field;
  if ($ref) return `<a href="#schema-${nameIn($ref)}">${nameIn($ref)}</a>`;
  if (only !== undefined) return code(JSON.stringify(only));
  if (values) return values.map((value) => code(JSON.stringify(value))).join(' or ');
  const either = anyOf ?? oneOf;
  if (either) return [...new Set(either.map(typeOf))].join(' or ');
  if (items) return `array of ${typeOf(items)}`;
  if (typeof additionalProperties === 'object') return `map of ${typeOf(additionalProperties)}`;
  return escapeHtml([field.type ?? 'any'].flat().join(' or '));
}

const between = (from: number | undefined, to: number | undefined, unit: string): string[] => {
  if (from === undefined && to === undefined) return [];
  if (from === undefined) return [`at most ${to}${unit}`];
  return [to === undefined || to >= Number.MAX_SAFE_INTEGER ? `from ${from}${unit}` : `${from} to ${to}${unit}`];
};

function rulesOf({ type, format, pattern, ...limits }: Field): string {
  const isText = type === 'string';
  const rules = [
    ...(format ? [escapeHtml(format)] : []),
    ...between(limits.minLength, limits.maxLength, ' characters'),
    ...between(limits.minimum, limits.maximum, ''),
    ...between(undefined, limits.maxItems, ' elements'),
    ...between(undefined, limits.maxProperties, ' entries'),
    ...(isText && pattern ? [code(pattern)] : []),
  ];
  return rules.map((rule) => `, ${rule}`).join('');
}

/** The fields of a schema without a name of its own. */
function inside(field: Field): string {
  if (field.properties) return fieldList(field);
  const parts = [...(field.anyOf ?? field.oneOf ?? []), ...(field.items ? [field.items] : [])];
  return parts.map(inside).join('');
}

const entry = (name: string, isRequired: boolean, field: Field): string =>
  `<dt>${code(name)} <span>${typeOf(field)}${rulesOf(field)}${isRequired ? ', <strong>required</strong>' : ''}</span></dt>` +
  `<dd>${field.description ? `<p>${inline(field.description)}</p>` : ''}${inside(field)}</dd>`;

const list = (entries: string[]): string => (entries.length > 0 ? `<dl>${entries.join('')}</dl>` : '');

export function fieldList({ properties = {}, required = [] }: Field): string {
  return list(Object.entries(properties).map(([name, field]) => entry(name, required.includes(name), field)));
}

export const parameterList = (parameters: Parameter[]): string =>
  list(parameters.map(({ name, required = false, schema }) => entry(name, required, schema)));

/** A body: the name of its schema, or its fields. */
export const bodyType = (schema: Field): string => `<p>${typeOf(schema)}</p>${inside(schema)}`;
