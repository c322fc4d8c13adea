/** Values that a schema of the OpenAPI document allows, and what no friend would send: add hostile values here. */
import fc from 'fast-check';
import { makeIdAt } from '#libs/base/terms/uuid';

export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  propertyNames?: Schema;
  additionalProperties?: Schema;
}

/** What a valid request needs that no document can tell. */
export interface Known {
  domainId: string;
  apiKey: string;
  token: string;
  /** for webhooks alone: whatever else one may manage would end the run */
  webhooksToken: string;
  cursors: string[];
  recordIds: string[];
  /** of the domain, by their hash */
  notices: string[];
  visitors: string[];
  erasures: string[];
  webhooks: string[];
}

const day = 86_400_000;
const dayFrom = (days: number) => new Date(Date.now() + days * day).toISOString().slice(0, 10);
/** Each is its own, so that a record is stored once, however many come at a time. */
export const recentId = fc.integer({ min: -29 * day, max: 0 }).map((ago) => makeIdAt(Date.now() + ago));
const hash = (known: string[]) => fc.oneof(fc.constantFrom(...known), fc.stringMatching(/^[0-9a-f]{64}$/));

/** The `name` is that of the parameter or field that a value is for. */
export function createValid(schemas: Record<string, Schema>, known: Known) {
  /** Where the schema alone is too wide to hit often. */
  const special: Record<string, fc.Arbitrary<unknown>> = {
    domainId: fc.constant(known.domainId),
    id: recentId,
    cursor: fc.constantFrom(...known.cursors),
    recordId: fc.constantFrom(...known.recordIds),
    hash: hash(known.notices),
    notice: hash(known.notices),
    visitorId: fc.oneof(fc.constantFrom(...known.visitors), text({ minLength: 1, maxLength: 128 })),
    erasureId: fc.oneof(fc.constantFrom(...known.erasures), fc.stringMatching(/^ers_[0-9a-f]{20}$/)),
    level: fc.integer({ min: 0, max: 2 }),
    tile: fc.constantFrom(...listOf('000 000.p/1 000.p/2 000.p/256 001 x001/000 x001/234.p/5 00 x000/000')),
    log: fc.integer({ min: 1, max: 2 }),
    webhookId: fc.constantFrom(...known.webhooks),
    dryRun: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.boolean()),
    timeFormat: fc.constantFrom('dd/MM/yyyy HH:mm', 'unix', 'unix-ms'),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
    encoding: fc.oneof({ weight: 6, arbitrary: fc.constant('utf-8') }, fc.constantFrom('utf-16', 'latin1')),
    url: fc.oneof(fc.constantFrom(...webhookUrls), fc.constantFrom(...hostileUrls)),
    types: fc.subarray(['records.sealed', 'visitor.erased', 'limit.approaching', 'limit.reached'], { minLength: 1 }),
    domains: fc.constantFrom(null, [known.domainId]),
    decisions: fc.constantFrom(null, ['withdraw']),
    pageUrl: fc.webUrl({ withQueryParameters: true, withFragments: true }),
  };

  const valid = (schema: Schema, name = ''): fc.Arbitrary<unknown> => {
    if (special[name]) return special[name];
    if (schema.$ref) return valid(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => valid(each)));
    return schema.type === 'object' ? object(schema) : scalar(schema);
  };

  const object = ({ properties, required = [], propertyNames, additionalProperties }: Schema) => {
    if (!properties) return fc.dictionary(text(propertyNames ?? {}), valid(additionalProperties ?? {}), { maxKeys: 6 });
    const fields = Object.entries(properties).map(([name, schema]) => [name, valid(schema, name)]);
    return fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys: required });
  };

  return valid;
}

function scalar({ type, minimum = 0, maximum = 1e9, ...rest }: Schema): fc.Arbitrary<unknown> {
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: minimum, max: maximum });
  if (type === 'number') return fc.double({ noNaN: true, min: minimum, max: maximum });
  return text(rest);
}

function text({ format, pattern = '', minLength = 0, maxLength = 64 }: Schema): fc.Arbitrary<string> {
  if (format === 'date') return fc.integer({ min: -400, max: 30 }).map(dayFrom);
  // the others say what a text may not hold; fast-check takes no lookahead
  const ofPattern = /^\^(?:\(\?!.*?\$\))?\)?(\[A-Za-z.*)$/.exec(pattern)?.[1];
  const any = ofPattern
    ? fc.stringMatching(new RegExp(`^${ofPattern}`))
    : fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) });
  return any.filter((value) => value.length <= maxLength && !['__proto__', 'constructor', 'prototype'].includes(value));
}

const listOf = (text: string): string[] => text.trim().split(/\s+/);

/** Nothing is ever sent there: the worker of a run has no SECRETS_KEY. */
const webhookUrls = listOf(`
  https://receiver.example/ https://receiver.example:8443/hook?a=1 https://xn--bcher-kva.example/
`);

/** No webhook may ever lead there. */
export const hostileUrls = listOf(`
  http://receiver.example/ ftp://receiver.example/ file:///etc/passwd gopher://receiver.example/ //x x
  https://user:password@receiver.example/ https://user@receiver.example/ https://receiver.example/#x
  https://localhost/ https://LOCALHOST./ https://a.localhost/ https://①②⑦.⓪.⓪.①/ https:127.0.0.1
  https://127.0.0.1/ https://127.1/ https://2130706433/ https://0177.0.0.1/ https://0x7f000001/
  https://[::1]/ https://[::]/ https://[::2]/ https://[::ffff:7f00:1]/ https://[64:ff9b::a9fe:a9fe]/
  https://0.0.0.0/ https://0/ https://10.0.0.1/ https://192.168.1.1:8443/ https://169.254.169.254/latest
  https://[fe80::1]/ https://[fd00:ec2::254]/ https://100.64.0.1/ https://224.0.0.1/ https://255.255.255.255/
  https://receiver.example:22/ https://receiver.example:25/ https://receiver.example:80/ https://x:65536/
`);

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    ...['', ' ', '\0', 'a\0b', '\ud800', '\udfff\ud800', '\u202e\u2066', '\u001b[31m', '\r\nX-Injected: yes', '\uffff'],
    ...['__proto__', 'constructor', 'toString', 'null', 'undefined', 'NaN', 'true', '[object Object]', '{}', '[]'],
    ...["' or 1=1 --", '"; drop table records; --', '{{7*7}}', '../../../etc/passwd', '%00', '%', '%zz', '*', '٣'],
    ...['-1', '0', '1e309', '-0', '0x10', '9'.repeat(400), '2026-02-30', '0000-00-00', '+275760-09-13'],
    ...['x'.repeat(129), 'x'.repeat(5_000), '👩‍👩‍👧'.repeat(40), 'http://169.254.169.254/', 'javascript:alert(1)'],
  ),
);

const deep = fc
  .integer({ min: 1, max: 4_000 })
  .map((levels): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels)));

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 4 }),
  fc.double(),
  fc.constantFrom(null, [], {}, 2 ** 53, -1e308, [[]], 7, 'en_US', '/about', 'capacitor://localhost/x'),
  fc.constantFrom({ a: 'granted', b: 0, c: null }, { a: 'maybe' }, { a: [], b: 'x' }),
  deep,
);

export const hostileBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constant(Buffer.alloc(20_000, ' ')),
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.constantFrom('['.repeat(9_000), '{"decision":"custom"', '\ufeff{}').map((text) => Buffer.from(text)),
);
