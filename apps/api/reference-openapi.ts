/** The document itself. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { answer, plain, refusals } from '#libs/base/http/openapi';
import * as examples from '#libs/tenants/examples';
import { signIn } from '#libs/tenants/sign-in';

const etag = { ETag: z.string().meta({ description: 'send it as `If-None-Match` to ask whether it changed' }) };
const unchanged = { description: 'It is the same as the one with this `ETag`' };

export const referencePaths: ZodOpenApiPathsObject = {
  '/v1/sign-in': {
    get: {
      operationId: 'getSignIn',
      summary: 'How people sign in to the dashboard, beside access tokens',
      description: '`oidc` is null where people sign in with access tokens alone.',
      tags: ['Reference'],
      security: [],
      responses: { 200: answer('The way to sign in', signIn, examples.signIn), ...refusals('invalid_request') },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      summary: 'This document',
      description: 'It is made from the schemas that validate requests.',
      tags: ['Reference'],
      security: [],
      responses: {
        200: answer('The OpenAPI document', z.looseObject({ openapi: z.string() }), { openapi: '3.1.0' }, etag),
        304: unchanged,
        ...refusals('invalid_request'),
      },
    },
  },
  '/docs': {
    get: {
      operationId: 'getDocs',
      summary: 'This document as a page',
      description: 'It loads nothing from other hosts.',
      tags: ['Reference'],
      security: [],
      responses: {
        200: plain('The page', 'text/html', '<!doctype html>…', etag),
        304: unchanged,
        ...refusals('invalid_request'),
      },
    },
  },
};
