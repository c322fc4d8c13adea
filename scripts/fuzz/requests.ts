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

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  schema: Schema;
}

interface Operation {
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const headerNames = [
  ...['origin', 'x-request-id', 'user-agent', 'x-forwarded-for', 'sec-gpc', 'accept', 'cookie', 'content-encoding'],
  ...['if-none-match', 'range', 'expect', 'x-http-method-override', 'access-control-request-method'],
];
const headerValues = ['https://shop.example', 'null', '1', '203.0.113.9, ::1', 'gzip', 'Googlebot/2.1'];

/** Percent-encoded byte by byte: half a surrogate pair too is then only some bytes. */
const encode = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .join('')
    .replaceAll(/%(2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)/g, (escaped) => decodeURIComponent(escaped));
const inQuery = (value: unknown) => encode(typeof value === 'string' ? value : String(JSON.stringify(value)));
const toQuery = (pairs: [string, unknown][]) =>
  pairs.map(([name, value]) => `${inQuery(name)}=${inQuery(value)}`).join('&');
const asJson = (value: unknown) => Buffer.from(JSON.stringify(value));
/** As much as Node's own client lets through. */
const headerValue = (text: string) => text.replaceAll(/[^\t\x20-\x7e\xa0-\xff]/g, '?').slice(0, 4_000);
const mostly = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ arbitrary, weight });

export function requestsOf({ paths, components }: Document, known: Known): fc.Arbitrary<Request> {
  const valid = createValid(components.schemas, known);

  /** A valid object with one field replaced or added. */
  const nearlyValid = (schema: Schema) => {
    const names = ['decision', 'id', 'visitorId', 'preferences', 'metadata', 'pageUrl', '__proto__'];
    const name = fc.oneof(fc.constantFrom(...names), hostileText);
    return fc
      .tuple(valid(schema), name, hostileValue)
      .map(([object, field, value]) => Object.fromEntries([...Object.entries(object as object), [field, value]]));
  };

  const bodyOf = ({ requestBody }: Operation): fc.Arbitrary<Uint8Array | null> => {
    if (requestBody?.content['text/csv']) return importFile;
    const schema = requestBody?.content['application/json']?.schema;
    if (!schema) return fc.oneof(mostly(9, fc.constant(null)), hostileBody);
    return fc.oneof(
      mostly(4, valid(schema).map(asJson)),
      mostly(4, nearlyValid(schema).map(asJson)),
      mostly(2, hostileBody),
    );
  };

  const queryOf = ({ parameters = [] }: Operation): fc.Arbitrary<string> => {
    const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
    const fields = Object.fromEntries(ofQuery.map(({ name, schema }) => [name, valid(schema, name)]));
    const requiredKeys = ofQuery.filter(({ required }) => required).map(({ name }) => name);
    const proper = fc.record(fields, { requiredKeys }).map((values) => Object.entries(values));
    const names = fc.constantFrom('page', 'limit', 'cursor', 'from', 'to', 'interval', 'visitorId', 'bot', '__proto__');
    const extra = fc.array(fc.tuple(fc.oneof(names, hostileText), hostileValue), { minLength: 1, maxLength: 2 });
    return fc.oneof(
      mostly(5, proper.map(toQuery)),
      mostly(
        4,
        fc.tuple(proper, extra).map((pairs) => toQuery(pairs.flat())),
      ),
      hostileText.map((text) => text.replaceAll(/[^\x21-\x7e]/g, '+')),
    );
  };

  const headersOf = (path: string, { security = [], requestBody }: Operation): fc.Arbitrary<Record<string, string>> => {
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
    return fc.tuple(credential, type, fc.oneof(fc.constant({}), extra)).map(([given, media, others]) => ({
      ...(others as Record<string, string>),
      ...(security.length > 0 && { [name]: headerValue(given) }),
      ...(requestBody && { 'content-type': headerValue(media) }),
    }));
  };

  const pathOf = (template: string, { parameters = [] }: Operation): fc.Arbitrary<string> => {
    const ofPath = parameters.filter((parameter) => parameter.in === 'path');
    const values = ofPath.map(({ name, schema }) =>
      fc.oneof(mostly(18, valid(schema, name).map(String)), fc.stringMatching(/^[\w-]{1,64}$/), hostileText),
    );
    // the slashes of a tile's number are its own
    const inPath = (name: string, value: string) =>
      name === 'tile' ? value.split('/').map(encode).join('/') : encode(value);
    return fc
      .tuple(...values)
      .map((given) =>
        ofPath.reduce((path, { name }, at) => path.replace(`{${name}}`, () => inPath(name, given[at] ?? '')), template),
      );
  };

  const requestOf = (path: string, method: string, operation: Operation): fc.Arbitrary<Request> =>
    fc
      .record({
        method: fc.oneof(mostly(19, fc.constant(method)), fc.constantFrom(...methods)),
        path: pathOf(path, operation),
        tail: fc.oneof(mostly(29, fc.constant('')), hostileText),
        query: queryOf(operation),
        headers: headersOf(path, operation),
        body: bodyOf(operation),
      })
      .map(({ path: ofParameters, tail, query, ...rest }) => {
        const target = ofParameters + encode(tail);
        const headers = { ...rest.headers, ...(rest.body && { 'content-length': String(rest.body.length) }) };
        return { ...rest, headers, target: query ? `${target}?${query}` : target };
      });

  return fc.oneof(
    ...Object.entries(paths).flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, operation]) =>
        // what is open to everybody is tried most
        mostly(
          operation.requestBody ? (operation.requestBody.content['text/csv'] ? 10 : 5) : 1,
          requestOf(path, method.toUpperCase(), operation),
        ),
      ),
    ),
  );
}
