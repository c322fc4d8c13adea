/** Values that a schema of the OpenAPI document allows, and hostile ones: add those here. */
import fc from 'fast-check';
import { makeIdAt } from '#libs/base/terms/calendar';

interface Schema {
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

/** What a valid request needs beyond the document. */
export interface Known {
  domainId: string;
  apiKey: string;
  token: string;
  /** only for webhooks: other rights would let the fuzzer end the run */
  webhooksToken: string;
  /** of a person with an account, and the origin of the service's own pages */
  personToken: string;
  origin: string;
  cursors: string[];
  recordIds: string[];
  /** of the domain, by hash */
  notices: string[];
  visitors: string[];
  erasures: string[];
  webhooks: string[];
}

const day = 86_400_000;
const dayFrom = (days: number) => new Date(Date.now() + days * day).toISOString().slice(0, 10);
/** All different, so that each record is stored once, even if many arrive together. */
const recentId = fc.integer({ min: -29 * day, max: 0 }).map((ago) => makeIdAt(Date.now() + ago));
const hash = (known: string[]) => fc.oneof(fc.constantFrom(...known), fc.stringMatching(/^[0-9a-f]{64}$/));

/** `name`: the parameter or field that the value is for. */
function createValid(schemas: Record<string, Schema>, known: Known) {
  /** Where random values of the schema would rarely be useful. */
  const special: Record<string, fc.Arbitrary<unknown>> = {
    domainId: fc.constant(known.domainId),
    id: recentId,
    cursor: fc.constantFrom(...known.cursors),
    recordId: fc.constantFrom(...known.recordIds),
    hash: hash(known.notices),
    notice: hash(known.notices),
    visitorId: fc.oneof(fc.constantFrom(...known.visitors), text({ minLength: 1, maxLength: 128 })),
    erasureId: fc.oneof(fc.constantFrom(...known.erasures), fc.stringMatching(/^ers_[0-9a-f]{20}$/)),
    personId: fc.stringMatching(/^per_[0-9a-f]{20}$/),
    passkeyId: fc.stringMatching(/^pky_[0-9a-f]{20}$/),
    email: fc.emailAddress(),
    level: fc.integer({ min: 0, max: 2 }),
    tile: fc.constantFrom(...listOf('000 000.p/1 000.p/2 000.p/256 001 x001/000 x001/234.p/5 00 x000/000')),
    log: fc.integer({ min: 1, max: 2 }),
    webhookId: fc.constantFrom(...known.webhooks),
    dryRun: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.boolean()),
    timeFormat: fc.constantFrom('dd/MM/yyyy HH:mm', 'unix', 'unix-ms'),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
    encoding: fc.oneof({ weight: 6, arbitrary: fc.constant('utf-8') }, fc.constantFrom('utf-16', 'latin1')),
    url: fc.oneof(fc.constantFrom(...webhookUrls), fc.constantFrom(...hostileUrls)),
    types: fc.subarray(['records.sealed', 'visitor.erased', 'limit.approaching', 'limit.reached', 'domain.silent'], {
      minLength: 1,
    }),
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
  // the other patterns exclude something; fast-check does not support lookaheads
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

/** A webhook must never get one of these addresses. */
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

const hostileText: fc.Arbitrary<string> = fc.oneof(
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

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 4 }),
  fc.double(),
  fc.constantFrom(null, [], {}, 2 ** 53, -1e308, [[]], 7, 'en_US', '/about', 'capacitor://localhost/x'),
  fc.constantFrom({ a: 'granted', b: 0, c: null }, { a: 'maybe' }, { a: [], b: 'x' }),
  deep,
);

const hostileBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constant(Buffer.alloc(20_000, ' ')),
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.constantFrom('['.repeat(9_000), '{"decision":"custom"', '\ufeff{}').map((text) => Buffer.from(text)),
);

const megabyte = 1024 * 1024;

const ndjsonRow = fc.oneof(
  recentId.map((id) => JSON.stringify({ id, decision: 'custom' })),
  fc.json(),
  fc.constantFrom(
    ...['', ' ', '{', '[]', 'null', '{"end":true}', '{"id":7}', '\ufeff{}', '{"decision":"custom"}', '"\\ud800"', '\0'],
    ...['{"__proto__":{}}', `${'['.repeat(9_000)}`, '{"decision":"custom","decidedAt":"9999-12-31T23:59:59Z"}', '\r'],
  ),
);

const csvRow = fc.oneof(
  recentId.map((id) => `${id},custom,"v ""1"",\nof two"`),
  recentId.map((id) => `"${id}","custom",`),
  fc.constantFrom(
    ...['', ',', ',,', ',,,', '"', '""', '"""', '"a', 'a"b,c,d', '"a"b,c,d', 'a,b,"c', '"a\r",b,c', "'=1+1,'@a,-1"],
    '\0,\0,\0',
    ...['x,accept_all,é', '\u2028', '"'.repeat(999), ','.repeat(999), `"${'\n'.repeat(999)}`],
  ),
);

const header = fc.constantFrom(
  ...['id,decision,visitorId', '"id","decision","visitorId"', '\ufeffid,decision,visitorId'],
  ...['id,id,id', '"id,decision', '', '__proto__,constructor,toString', 'a;b;c'],
);

const lineBreak = fc.constantFrom('\n', '\r\n', '\r');
const encoding = fc.oneof(
  { weight: 8, arbitrary: fc.constant<BufferEncoding>('utf8') },
  fc.constantFrom<BufferEncoding>('utf16le', 'latin1'),
);
const fileOf = (rows: fc.Arbitrary<string>, first: fc.Arbitrary<string[]>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(first, fc.array(rows, { maxLength: 12 }), lineBreak, encoding)
    .map(([head, lines, between, as]) => Buffer.from([...head, ...lines].join(between), as));

/** Shown by its name in the report of a failed run. */
const large = (name: string, text: string) => Object.assign(Buffer.from(text), { [fc.toStringMethod]: () => name });
const largeFiles = [
  large('a line of 10 MB', 'x'.repeat(10 * megabyte)),
  large('a string of 10 MB', `{"id":"${'x'.repeat(10 * megabyte)}"}\n{}`),
  large('an open quote before 10,000 lines', `id,decision,visitorId\n"${'x\n'.repeat(10_000)}`),
  large('10,000 lines with a quote each', `id,decision,visitorId\n${'x"\n'.repeat(10_000)}`),
];

const importFile: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 20, arbitrary: fileOf(ndjsonRow, fc.constant([])) },
  { weight: 20, arbitrary: fileOf(csvRow, fc.tuple(header)) },
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(...largeFiles) },
);

export interface Request {
  method: string;
  /** path and query, as they are sent */
  target: string;
  headers: Record<string, string>;
  body: Uint8Array | null;
}

interface Operation {
  security?: Record<string, unknown>[];
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const headerNames = [
  ...['origin', 'x-request-id', 'user-agent', 'x-forwarded-for', 'sec-gpc', 'accept', 'cookie', 'content-encoding'],
  ...['prefer', 'if-none-match', 'range', 'expect', 'x-http-method-override', 'access-control-request-method'],
];
const headerValues = ['https://shop.example', 'null', '1', '203.0.113.9, ::1', 'gzip', 'Googlebot/2.1'];

/** as bytes, so that half a surrogate pair can be encoded */
const encode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());
const inQuery = (value: unknown) => encode(typeof value === 'string' ? value : String(JSON.stringify(value)));
const toQuery = (pairs: [string, unknown][]) => pairs.map((pair) => pair.map(inQuery).join('=')).join('&');
const asJson = (value: unknown) => Buffer.from(JSON.stringify(value));
/** What Node's own client allows. */
const headerValue = (text: string) => text.replaceAll(/[^\t\x20-\x7e\xa0-\xff]/g, '?').slice(0, 4_000);
const mostly = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ arbitrary, weight });

export function requestsOf({ paths, components }: Document, known: Known): fc.Arbitrary<Request> {
  const valid = createValid(components.schemas, known);

  /** A valid object with one field replaced or added. */
  const nearlyValid = (schema: Schema) => {
    const { properties = {} } = schema.$ref ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
    const names = [...Object.keys(properties), '__proto__'];
    const name = fc.oneof(fc.constantFrom(...names), hostileText);
    return fc
      .tuple(valid(schema), name, hostileValue)
      .map(([object, field, value]) => Object.fromEntries([...Object.entries(object as object), [field, value]]));
  };

  const bodyOf = ({ requestBody }: Operation): fc.Arbitrary<Uint8Array | null> => {
    if (requestBody?.content['text/csv']) return importFile;
    const schema = requestBody?.content['application/json']?.schema;
    if (!schema) return fc.oneof(mostly(9, fc.constant(null)), hostileBody);
    const [right, nearly] = [valid(schema).map(asJson), nearlyValid(schema).map(asJson)];
    return fc.oneof(mostly(4, right), mostly(4, nearly), mostly(2, hostileBody));
  };

  const queryOf = ({ parameters = [] }: Operation): fc.Arbitrary<string> => {
    const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
    const fields = Object.fromEntries(ofQuery.map(({ name, schema }) => [name, valid(schema, name)]));
    const requiredKeys = ofQuery.filter(({ required }) => required).map(({ name }) => name);
    const proper = fc.record(fields, { requiredKeys }).map((values) => Object.entries(values));
    const names = fc.constantFrom('page', 'limit', 'cursor', 'from', 'to', 'interval', 'visitorId', 'bot', '__proto__');
    const extra = fc.array(fc.tuple(fc.oneof(names, hostileText), hostileValue), { minLength: 1, maxLength: 2 });
    const more = fc.tuple(proper, extra).map((pairs) => pairs.flat());
    const hostile = hostileText.map((text) => text.replaceAll(/[^\x21-\x7e]/g, '+'));
    return fc.oneof(mostly(5, proper.map(toQuery)), mostly(4, more.map(toQuery)), hostile);
  };

  const headersOf = (
    path: string,
    { security = [], parameters = [], requestBody }: Operation,
  ): fc.Arbitrary<Record<string, string>> => {
    const { apiKey } = known;
    const isOfPerson = path.startsWith('/v1/people/');
    const ofOrganization = path.startsWith('/v1/organization/webhooks') ? known.webhooksToken : known.token;
    const token = isOfPerson ? known.personToken : ofOrganization;
    const isOwnPage = isOfPerson || path.startsWith('/v1/sign-');
    const name = security.some((scheme) => 'apiKey' in scheme) ? 'x-api-key' : 'authorization';
    const right = name === 'x-api-key' ? apiKey : `Bearer ${token}`;
    const wrong = [token, apiKey, `Bearer ${apiKey}`, `Bearer ${token}x`, 'Bearer a.b.c', 'Bearer e30.e30.x'];
    const credential = fc.oneof(mostly(12, fc.constant(right)), fc.constantFrom(...wrong), hostileText);
    const types = requestBody?.content['text/csv'] ? ['text/csv', 'application/x-ndjson'] : ['application/json'];
    const type = fc.oneof(mostly(19, fc.constantFrom(...types)), hostileText);
    const value = fc.oneof(hostileText, fc.constantFrom(...headerValues)).map(headerValue);
    const extra = fc.dictionary(fc.constantFrom(...headerNames), value, { maxKeys: 3 });
    // endpoints that correct mistakes are tried in both modes
    const isLenient = parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'Prefer');
    const form = fc.constantFrom({}, isLenient ? { prefer: 'handling=strict' } : {});
    return fc.tuple(credential, type, fc.oneof(fc.constant({}), extra), form).map(([given, media, others, prefer]) => ({
      ...(isOwnPage && { origin: known.origin }),
      ...(others as Record<string, string>),
      ...prefer,
      ...(security.length > 0 && { [name]: headerValue(given) }),
      ...(requestBody && { 'content-type': headerValue(media) }),
    }));
  };

  const pathOf = (template: string, { parameters = [] }: Operation): fc.Arbitrary<string> => {
    const fields = parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name, schema }) => {
        const proper = mostly(18, valid(schema, name).map(String));
        const value = fc.oneof(proper, fc.stringMatching(/^[\w-]{1,64}$/), hostileText);
        // the slashes in a tile's number stay
        return [name, name === 'tile' ? value.map((tile) => tile.split('/').map(encode).join('/')) : value.map(encode)];
      });
    const values: fc.Arbitrary<Record<string, string>> = fc.record(Object.fromEntries(fields));
    return values.map((given) => template.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? ''));
  };

  const requestOf = (template: string, method: string, operation: Operation): fc.Arbitrary<Request> =>
    fc
      .record({
        method: fc.oneof(mostly(19, fc.constant(method)), fc.constantFrom(...methods)),
        path: pathOf(template, operation),
        tail: fc.oneof(mostly(29, fc.constant('')), hostileText),
        query: queryOf(operation),
        headers: headersOf(template, operation),
        body: bodyOf(operation),
      })
      .map(({ path, tail, query, ...rest }) => {
        const headers = { ...rest.headers, ...(rest.body && { 'content-length': String(rest.body.length) }) };
        return { ...rest, headers, target: path + encode(tail) + (query && `?${query}`) };
      });

  const all = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => {
      const { content } = operation.requestBody ?? {};
      // operations with a body are tried most
      return mostly(content?.['text/csv'] ? 10 : content ? 5 : 1, requestOf(path, method.toUpperCase(), operation));
    }),
  );
  return fc.oneof(...all);
}
