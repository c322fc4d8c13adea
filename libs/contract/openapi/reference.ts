/** The document itself. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { signIn } from '../sign-in.ts';
import { answer, refusals } from './parts.ts';

export const referencePaths: ZodOpenApiPathsObject = {
  '/v1/sign-in': {
    get: {
      operationId: 'getSignIn',
      summary: 'How people sign in to the dashboard, beside access tokens',
      tags: ['Reference'],
      security: [],
      responses: { 200: answer('The way to sign in', signIn), ...refusals('invalid_request') },
    },
  },
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
