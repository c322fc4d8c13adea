/**
 * Redocly's default rules, and what those of Spectral ask beyond them, as far as the schemas do not give it already.
 * Responses are compared with the document in `test/support/client.ts`, with every request.
 */

import { createConfig, lintFromString } from '@redocly/openapi-core';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { siteCheckRoutes } from '#libs/banner/routes';
import { signInRoutes } from '#libs/people/routes';
import { createOpenApi } from '../../apps/api/openapi.ts';
import { versionOf } from '../../scripts/release/check.ts';
import { root } from '../../scripts/stack/paths.ts';

type Content = Record<string, { schema: object; example?: unknown }>;
interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security: object[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

const document = JSON.parse(JSON.stringify(createOpenApi())) as {
  info: { version: string };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at: ['paths', path, method], ...operation })),
);
const namesOf = (operations: { operationId: string }[]) => operations.map(({ operationId }) => operationId);

/** Bodies of requests and responses. */
const bodies = operations.flatMap(({ at, operationId, requestBody, responses }) =>
  Object.entries({ ...responses, ...(requestBody && { requestBody }) }).flatMap(([part, { content = {} }]) =>
    Object.entries(content).map(([type, body]) => ({
      name: `${operationId} ${part} ${type}`,
      pointer: [...at, ...(part === 'requestBody' ? [part] : ['responses', part]), 'content', type, 'schema'],
      isProblem: /^[45]/.test(part),
      type,
      body,
    })),
  ),
);

describe('the OpenAPI document', () => {
  it('is of the release', () => expect(document.info.version).toBe(versionOf(root)));

  it('breaks none of Redocly’s recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, location: [at] }) => `${ruleId} at ${at?.pointer}`)).toEqual([]);
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
    expect(namesOf(lacking)).toEqual([]);
    expect(document.tags.filter(({ name }) => !operations.some(({ tags }) => tags?.includes(name)))).toEqual([]);
  });

  it('asks for a credential everywhere but for a place, for what has a ticket, to sign in, and for the references, and for a notice takes either', () => {
    const withSchemes = (count: number) => operations.filter(({ security }) => security.length === count);
    expect(namesOf(withSchemes(0))).toEqual([
      'getPlace',
      ...Object.keys(siteCheckRoutes),
      ...Object.keys(signInRoutes),
      'getSignIn',
      'getOpenApi',
      'getDocs',
    ]);
    expect(namesOf(withSchemes(2))).toEqual(['putNotice']);
  });

  it('has an example that fits its schema for every body, and problems for errors', () => {
    const ajv = new Ajv2020.default({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'document', ...document });
    const wrong = bodies.flatMap(({ name, pointer, isProblem, type, body }) => {
      if (isProblem) return type === 'application/problem+json' ? [] : [`${name}: no problem`];
      if (body.example === undefined) return [`${name}: no example`];
      const escaped = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
      const fits = ajv.compile({ $ref: `document#/${escaped.join('/')}` });
      return fits(body.example) ? [] : [`${name}: ${ajv.errorsText(fits.errors)}`];
    });
    expect(wrong).toEqual([]);
    expect(bodies.filter(({ isProblem }) => !isProblem).length).toBeGreaterThan(operations.length);
  });

  it('has only patterns that every reader can compile, and uses every schema that it names', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain('\\\\p{');
    const unused = Object.keys(document.components.schemas).filter((name) => !text.includes(`schemas/${name}"`));
    expect(unused).toEqual([]);
  });
});
