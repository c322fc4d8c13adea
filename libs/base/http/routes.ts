/**
 * The row of an endpoint. The router, its guard, the OpenAPI document and the dashboard's requests are made from it. Must
 * not import Node modules, since the dashboard imports the types.
 */
import type { z } from 'zod';
import type { ZodOpenApiParameters, ZodOpenApiRequestBodyObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import type { ProblemCode } from '../terms/problem.ts';
import type { Scope } from '../terms/terms.ts';

interface Described {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `:name` is one segment, `*name` may contain slashes */
  path: `/${string}`;
  params?: z.ZodType & ZodOpenApiParameters['path'];
  /** strict; without it any query is refused */
  query?: z.ZodType & ZodOpenApiParameters['query'];
  headers?: ZodOpenApiParameters['header'];
  /** JSON; `bytes`: the limit, if it is higher than usual */
  body?: { schema: z.ZodType; example: unknown; bytes?: number };
  /** any other body; the handler reads it */
  upload?: ZodOpenApiRequestBodyObject;
  answers: ZodOpenApiResponsesObject;
  /** beside those of every request with a token or a body */
  refusals: readonly ProblemCode[];
  tag: string;
  summary: string;
  description: string;
}

/** An endpoint for access tokens. */
export interface Route extends Described {
  /** the token needs one of these scopes */
  scope: readonly [Scope, ...Scope[]] | 'any';
  /** and this one, too */
  alsoNeeds?: Scope;
  /** The shared limit that it counts against, see app.ts; `own`: the handler takes a place after reading the body. */
  limits: 'reads' | 'statistics' | 'current' | 'changes' | 'revocations' | 'own';
  /** responds only after the change is in force in this process */
  inForce?: true;
  /** Takes as long as the upload. */
  hasNoDeadline?: true;
}

/** An endpoint for pages with an API key. app.ts has its checks. */
export interface KeyRoute extends Described {
  /** names of security schemes in the document */
  auth: readonly ('apiKey' | 'accessToken')[];
}

/** By operation id. */
export type Routes = Record<string, Route>;
export type KeyRoutes = Record<string, KeyRoute>;

export type ParamsOf<R> = R extends { params: infer S extends z.ZodType } ? z.output<S> : object;
export type QueryOf<R> = R extends { query: infer S extends z.ZodType } ? z.output<S> : object;
export type BodyOf<R> = R extends { body: { schema: infer S extends z.ZodType } } ? z.output<S> : undefined;

export type AnswerOf<R> = R extends { answers: infer Answers }
  ? {
      [Status in keyof Answers]: Answers[Status] extends {
        content: { 'application/json': { schema: infer S extends z.ZodType } };
      }
        ? z.output<S>
        : never;
    }[keyof Answers]
  : never;
