/** Redocly's default rules, and what those of Spectral ask beyond them, as far as the schemas do not give it already. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { createOpenApi } from '#libs/contract/openapi/document';

type Content = Record<string, { schema: object; example?: unknown }>;
interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

const document = JSON.parse(JSON.stringify(createOpenApi())) as {
  info: { description?: string; contact?: object; license?: { name: string; identifier?: string } };
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at: [path, method], ...operation })),
);

/** Bodies that are sent, and that are answered where nothing fails. */
const bodies = operations.flatMap(({ at, operationId, requestBody, responses }) => [
  ...Object.entries(requestBody?.content ?? {}).map(([type, body]) => ({
    name: `${operationId} takes ${type}`,
    pointer: ['paths', ...at, 'requestBody', 'content', type, 'schema'],
    body,
  })),
  ...Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content = {} }]) =>
      Object.entries(content).map(([type, body]) => ({
        name: `${operationId} answers ${status} ${type}`,
        pointer: ['paths', ...at, 'responses', status, 'content', type, 'schema'],
        body,
      })),
    ),
]);

describe('the OpenAPI document', () => {
  const ajv = new Ajv2020.default({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', ...document });

  it('breaks none of Redocly’s recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const lint = async (given: object) => {
      const problems = await lintFromString({ source: JSON.stringify(given), config });
      return problems.map(({ ruleId, location: [at] }) => `${ruleId} at ${at?.pointer}`);
    };
    expect(await lint(document)).toEqual([]);
    expect(await lint({ ...document, info: { ...document.info, license: undefined } })).toEqual([
      'info-license at #/info',
    ]);
  }, 120_000);

  it('says who made it, under which licence, and where it is served', () => {
    expect(document.info).toMatchObject({
      description: expect.stringMatching(/\w/),
      contact: { name: expect.stringMatching(/\w/) },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    });
    expect(document.servers).toEqual([{ url: '/' }]);
  });

  it('has a summary, a description and a described tag for every operation, and says how it can be refused', () => {
    const described = new Set(document.tags.filter(({ description }) => description).map(({ name }) => name));
    const lacking = operations.filter(
      ({ summary = '', description = '', tags = [], responses }) =>
        !/^[A-Z]/.test(summary) ||
        !/^[A-Z`].*\.$/.test(description) ||
        tags.length !== 1 ||
        !tags.every((tag) => described.has(tag)) ||
        !Object.keys(responses).some((status) => status.startsWith('4')),
    );
    expect(lacking.map(({ operationId }) => operationId)).toEqual([]);
    expect(document.tags.filter(({ name }) => !operations.some(({ tags }) => tags?.includes(name)))).toEqual([]);
  });

  it('has an example that fits its schema for every body', () => {
    const wrong = bodies.flatMap(({ name, pointer, body }) => {
      if (body.example === undefined) return [`${name}: no example`];
      const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
      const fits = ajv.compile({ $ref: `document#/${escaped.join('/')}` });
      return fits(body.example) ? [] : [`${name}: ${ajv.errorsText(fits.errors)}`];
    });
    expect(wrong).toEqual([]);
    expect(bodies.length).toBeGreaterThan(operations.length);
  });

  it('has only patterns that every reader can compile', () => {
    expect(JSON.stringify(document)).not.toContain('\\\\p{');
  });

  it('uses every schema that it names', () => {
    const text = JSON.stringify(document);
    const unused = Object.keys(document.components.schemas).filter((name) => !text.includes(`schemas/${name}"`));
    expect(unused).toEqual([]);
  });
});
