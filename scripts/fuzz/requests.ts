/** Requests made from the OpenAPI document: valid ones, ones with a single thing wrong, and hostile ones. */
import fc from 'fast-check';
import { importFile } from './imports.ts';
import { createValid, hostileBody, hostileText, hostileValue, type Known, type Schema } from './values.ts';

export interface Request {
  method: string;
  /** path and query, as they go over the wire */
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

/** Half a surrogate pair is then only some bytes. */
const encode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());
const inQuery = (value: unknown) => encode(typeof value === 'string' ? value : String(JSON.stringify(value)));
const toQuery = (pairs: [string, unknown][]) => pairs.map((pair) => pair.map(inQuery).join('=')).join('&');
const asJson = (value: unknown) => Buffer.from(JSON.stringify(value));
/** As much as Node's own client lets through. */
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
    const token = path.startsWith('/v1/organization/webhooks') ? known.webhooksToken : known.token;
    const name = security.some((scheme) => 'apiKey' in scheme) ? 'x-api-key' : 'authorization';
    const right = name === 'x-api-key' ? apiKey : `Bearer ${token}`;
    const wrong = [token, apiKey, `Bearer ${apiKey}`, `Bearer ${token}x`, 'Bearer a.b.c', 'Bearer e30.e30.x'];
    const credential = fc.oneof(mostly(12, fc.constant(right)), fc.constantFrom(...wrong), hostileText);
    const types = requestBody?.content['text/csv'] ? ['text/csv', 'application/x-ndjson'] : ['application/json'];
    const type = fc.oneof(mostly(19, fc.constantFrom(...types)), hostileText);
    const value = fc.oneof(hostileText, fc.constantFrom(...headerValues)).map(headerValue);
    const extra = fc.dictionary(fc.constantFrom(...headerNames), value, { maxKeys: 3 });
    // what reads bodies leniently is tried in both forms
    const isLenient = parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'Prefer');
    const form = fc.constantFrom({}, isLenient ? { prefer: 'handling=strict' } : {});
    return fc.tuple(credential, type, fc.oneof(fc.constant({}), extra), form).map(([given, media, others, prefer]) => ({
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
        // the slashes of a tile's number are its own
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
      // what takes a body is tried most
      return mostly(content?.['text/csv'] ? 10 : content ? 5 : 1, requestOf(path, method.toUpperCase(), operation));
    }),
  );
  return fc.oneof(...all);
}
