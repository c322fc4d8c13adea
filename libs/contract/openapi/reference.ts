/** The document itself. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { answer } from './parts.ts';

export const referencePaths: ZodOpenApiPathsObject = {
  '/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      summary: 'This document',
      tags: ['Reference'],
      security: [],
      responses: { 200: answer('The OpenAPI document', z.looseObject({ openapi: z.string() })) },
    },
  },
  '/docs': {
    get: {
      operationId: 'getDocs',
      summary: 'This document as a page',
      tags: ['Reference'],
      security: [],
      responses: { 200: { description: 'The page', content: { 'text/html': { schema: z.string() } } } },
    },
  },
};
