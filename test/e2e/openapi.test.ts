import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { request } from '../support/client.ts';
import { type Stack, useStack } from '../support/stack.ts';

type Operation = {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean }[];
  responses: Record<string, { content: Record<string, { schema: object }> }>;
};
type Document = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
};

/** Every route of the contract, with the statuses of its table of errors. */
const routes = [
  ['post', '/v1/consent/{domainId}/record', [202, 400, 401, 403, 413, 415, 429, 500, 503]],
  ['post', '/v1/consent/{domainId}/displays', [204, 400, 401, 403, 413, 415, 429, 500, 503]],
  ['get', '/v1/consent/org-stats', [200, 304, 400, 401, 403, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/stats', [200, 304, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/records', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/records/{recordId}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/records/{recordId}/proof', [200, 400, 401, 403, 404, 409, 410, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/feed', [200, 400, 401, 403, 404, 409, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/notices', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/notices/{hash}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['put', '/v1/consent/{domainId}/notices/{hash}', [200, 201, 400, 401, 403, 404, 413, 415, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/log/checkpoint', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/log/key', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/log/consistency', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/log/tile/entries/{tile}', [200, 400, 401, 403, 404, 410, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/log/tile/{level}/{tile}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/organization', [200, 400, 401, 429, 500, 503]],
  ['get', '/v1/organization/stats', [200, 304, 400, 401, 403, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/visitors/{visitorId}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['delete', '/v1/consent/{domainId}/visitors/{visitorId}', [200, 202, 400, 401, 403, 404, 429, 500, 503]],
  ['post', '/v1/consent/{domainId}/visitors/lookup', [200, 400, 401, 403, 404, 413, 415, 429, 500, 503]],
  ['post', '/v1/consent/{domainId}/visitors/erase', [200, 202, 400, 401, 403, 404, 413, 415, 429, 500, 503]],
  ['get', '/v1/organization/visitors/{visitorId}', [200, 400, 401, 403, 429, 500, 503]],
  ['delete', '/v1/organization/visitors/{visitorId}', [200, 202, 400, 401, 403, 429, 500, 503]],
  ['post', '/v1/organization/visitors/lookup', [200, 400, 401, 403, 413, 415, 429, 500, 503]],
  ['post', '/v1/organization/visitors/erase', [200, 202, 400, 401, 403, 413, 415, 429, 500, 503]],
  ['get', '/v1/organization/erasures/{erasureId}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/consent/{domainId}/export', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/organization/export', [200, 400, 401, 403, 429, 500, 503]],
  ['post', '/v1/consent/{domainId}/import', [200, 400, 401, 403, 404, 409, 413, 415, 429, 500, 503]],
  ['get', '/v1/organization/webhooks', [200, 400, 401, 403, 429, 500, 503]],
  ['post', '/v1/organization/webhooks', [201, 400, 401, 403, 404, 413, 415, 429, 500, 503]],
  ['get', '/v1/organization/webhooks/{webhookId}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['patch', '/v1/organization/webhooks/{webhookId}', [200, 400, 401, 403, 404, 412, 413, 415, 429, 500, 503]],
  ['delete', '/v1/organization/webhooks/{webhookId}', [200, 400, 401, 403, 404, 412, 429, 500, 503]],
  ['post', '/v1/organization/webhooks/{webhookId}/test', [202, 400, 401, 403, 404, 429, 500, 503]],
  ['post', '/v1/organization/webhooks/{webhookId}/secret', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['post', '/v1/organization/webhooks/{webhookId}/replay', [200, 400, 401, 403, 404, 413, 415, 429, 500, 503]],
  ['get', '/v1/organization/webhooks/{webhookId}/deliveries', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/organization/domains', [200, 400, 401, 403, 429, 500, 503]],
  ['post', '/v1/organization/domains', [201, 400, 401, 403, 413, 415, 429, 500, 503]],
  ['get', '/v1/organization/domains/{domainId}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['patch', '/v1/organization/domains/{domainId}', [200, 400, 401, 403, 404, 412, 413, 415, 429, 500, 503]],
  ['delete', '/v1/organization/domains/{domainId}', [200, 400, 401, 403, 404, 412, 429, 500, 503]],
  ['get', '/v1/organization/domains/{domainId}/keys', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['post', '/v1/organization/domains/{domainId}/keys', [201, 400, 401, 403, 404, 409, 429, 500, 503]],
  ['delete', '/v1/organization/domains/{domainId}/keys/{prefix}', [200, 400, 401, 403, 404, 429, 500, 503]],
  ['get', '/v1/organization/acts', [200, 400, 401, 403, 429, 500, 503]],
  ['get', '/v1/sign-in', [200, 400, 500, 503]],
  ['get', '/openapi.json', [200, 304, 400, 500, 503]],
  ['get', '/docs', [200, 304, 400, 500, 503]],
] as const;

const reference = {
  type: 'object',
  required: ['$ref'],
  properties: { $ref: { type: 'string', pattern: '^#/components/' } },
};
/** What OpenAPI 3.1 asks of a document's structure, as far as this one uses it. */
const openApi31 = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  additionalProperties: false,
  properties: {
    openapi: { const: '3.1.0' },
    info: { type: 'object', required: ['title', 'version'] },
    servers: { type: 'array', items: { type: 'object', required: ['url'] } },
    tags: { type: 'array', items: { type: 'object', required: ['name'] } },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: { type: 'object', additionalProperties: { $ref: '#/$defs/operation' } },
    },
    components: {
      type: 'object',
      additionalProperties: false,
      properties: {
        schemas: { type: 'object', propertyNames: { pattern: '^[A-Za-z0-9._-]+$' } },
        securitySchemes: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            required: ['type'],
            properties: { type: { enum: ['apiKey', 'http'] } },
          },
        },
      },
    },
  },
  $defs: {
    operation: {
      type: 'object',
      required: ['operationId', 'summary', 'security', 'responses'],
      properties: {
        parameters: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'in', 'schema'],
            properties: { in: { enum: ['path', 'query', 'header'] } },
            if: { properties: { in: { const: 'path' } } },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
            then: { required: ['required'], properties: { required: { const: true } } },
          },
        },
        requestBody: { type: 'object', required: ['content'], properties: { content: { $ref: '#/$defs/content' } } },
        responses: {
          type: 'object',
          minProperties: 1,
          propertyNames: { pattern: '^[1-5]\\d\\d$' },
          additionalProperties: {
            anyOf: [
              reference,
              { type: 'object', required: ['description'], properties: { content: { $ref: '#/$defs/content' } } },
            ],
          },
        },
      },
    },
    content: {
      type: 'object',
      propertyNames: { pattern: '^[a-z]+/[a-z+-]+$' },
      additionalProperties: { type: 'object', required: ['schema'] },
    },
  },
};

describe('the OpenAPI document', () => {
  let stack: Stack;
  let document: Document;

  beforeAll(async () => {
    stack = await useStack();
    const { status, headers, body } = await request<Document>(stack.api.baseUrl, '/openapi.json');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json\b/);
    document = body;
  });

  it('describes every route of the contract and no other', () => {
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => [
        method,
        path,
        Object.keys(operation.responses).map(Number).sort(),
      ]),
    );
    expect(described).toEqual(expect.arrayContaining(routes.map((route) => [...route])));
    expect(described).toHaveLength(routes.length);
  });

  it('has the structure of OpenAPI 3.1', () => {
    const ajv = new Ajv2020.default({ strict: false, allErrors: true });
    const valid = ajv.validate(openApi31, document);
    expect(ajv.errorsText(ajv.errors), 'errors').toBe('No errors');
    expect(valid).toBe(true);
  });

  it('has schemas of JSON Schema 2020-12 throughout, and every reference leads somewhere', () => {
    const ajv = new Ajv2020.default({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'document', ...document });
    /** one pointer to each: errors are the same in many places */
    const compiled = new Map<string, string>();
    const visit = (node: unknown, pointer: string) => {
      if (typeof node !== 'object' || node === null) return;
      for (const [name, child] of Object.entries(node)) {
        const at = `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
        if (name === 'schema') compiled.set(JSON.stringify(child), at);
        else visit(child, at);
      }
    };
    visit(document.paths, '/paths');
    for (const name of Object.keys(document.components.schemas)) compiled.set(name, `/components/schemas/${name}`);
    expect(compiled.size).toBeGreaterThan(20);
    for (const pointer of compiled.values())
      expect(() => ajv.compile({ $ref: `document#${pointer}` }), pointer).not.toThrow();
  });

  it('names a security scheme that exists for every operation, and a name of its own', () => {
    const operations = Object.values(document.paths).flatMap((each) => Object.values(each));
    const schemes = Object.keys(document.components.securitySchemes);
    for (const { security, operationId } of operations) {
      const isOpen = ['getSignIn', 'getOpenApi', 'getDocs'].includes(operationId);
      // a notice is put with either
      const either = operationId === 'putNotice' ? 2 : 1;
      expect(security.flatMap((each) => Object.keys(each))).toHaveLength(isOpen ? 0 : either);
      expect(schemes).toEqual(expect.arrayContaining(security.flatMap((each) => Object.keys(each))));
    }
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it('has every error as problem+json with the codes of its status', () => {
    for (const [method, path, statuses] of routes) {
      for (const status of statuses.filter((each) => each >= 400)) {
        const content = document.paths[path]?.[method]?.responses[String(status)]?.content ?? {};
        expect(Object.keys(content), `${method} ${path} ${status}`).toEqual(['application/problem+json']);
      }
    }
  });

  it('names the parameters that the routes take, and which of them are required', () => {
    const names = (path: string) =>
      document.paths[path]?.get?.parameters?.map(({ name, required }) => `${name}${required ? '!' : ''}`).sort();
    expect(names('/v1/consent/{domainId}/stats')).toEqual(['by', 'domainId!', 'from!', 'interval', 'to!']);
    expect(names('/v1/consent/{domainId}/records')).toEqual([
      'bot',
      'cursor',
      'decision',
      'domainId!',
      'from',
      'limit',
      'page',
      'to',
      'visitorId',
    ]);
    expect(names('/v1/consent/org-stats')).toEqual(['cursor', 'limit']);
    expect(names('/v1/consent/{domainId}/records/{recordId}/proof')).toEqual(['domainId!', 'log', 'recordId!']);
    expect(names('/v1/consent/{domainId}/log/consistency')).toEqual(['domainId!', 'from!', 'log', 'to!']);
    expect(names('/v1/consent/{domainId}/log/tile/{level}/{tile}')).toEqual(['domainId!', 'level!', 'log', 'tile!']);
  });
});
