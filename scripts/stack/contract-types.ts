/** The types of the contract as text, from the schemas that validate: without Zod, and with their descriptions. */
import { z } from 'zod';
import { currentOfMany } from '#libs/current/contract';
import { feed, recordsPage } from '#libs/log/contract';
import { receipt, recordBody } from '#libs/record/contract';
import { domainStats, statsQuery } from '#libs/stats/contract';

type Schema = z.core.JSONSchema._JSONSchema;

/** Those that `libs/client/contract.ts` names, and those that they name. */
export function contractTypes(): string {
  const named = { Feed: feed, RecordsPage: recordsPage, Receipt: receipt, RecordBody: recordBody };
  const all = { ...named, DomainStats: domainStats, StatsQuery: statsQuery, CurrentOfMany: currentOfMany };
  const found = new Map<string, string>();
  for (const [name, schema] of Object.entries(all)) {
    const { $defs = {}, $ref: _, $schema: __, ...own } = z.toJSONSchema(schema, { io: 'input' });
    for (const [id, each] of Object.entries({ ...(own.type && { [name]: own }), ...$defs }))
      found.set(id, `${commentOf(each)}type ${id} = ${typeOf(each)};\n`);
  }
  return [...found.values()].join('\n');
}

function typeOf(schema: Schema): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  const { $ref, type, anyOf, oneOf, properties, additionalProperties, items, required = [] } = schema;
  if ($ref) return $ref.replace('#/$defs/', '');
  const choices = anyOf ?? oneOf;
  if (choices) return choices.map(typeOf).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each })).join(' | ');
  if (type === 'array') return `(${typeOf((items ?? true) as Schema)})[]`;
  if (type === 'integer') return 'number';
  if (type !== 'object') return type ?? 'unknown';
  if (!properties) return `{ [name: string]: ${typeOf(additionalProperties ?? true)} }`;
  const fields = Object.entries(properties).map(([name, each]) => {
    // what is absent may be given as undefined
    const [mark, more] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
    return `${commentOf(each)}${name}${mark}: ${typeOf(each)}${more};\n`;
  });
  return `{\n${fields.join('')}}`;
}

const commentOf = (schema: Schema): string =>
  typeof schema === 'object' && schema.description ? `/** ${schema.description.replaceAll('*/', '*\\/')} */\n` : '';
