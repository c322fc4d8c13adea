/**
 * What an endpoint is. The router, its guard, the OpenAPI document and the pages' requests are made from the same row. No
 * Node: pages take the types from it.
 */
import type { z } from 'zod';
import type { ZodOpenApiParameters, ZodOpenApiRequestBodyObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import type { ProblemCode } from '../terms/problem.ts';
import type { Scope } from '../terms/terms.ts';

interface Described {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `:name` stands for a part of it, `*name` for one that may have slashes */
  path: `/${string}`;
  params?: z.ZodType & ZodOpenApiParameters['path'];
  /** strict; none: a query is refused */
  query?: z.ZodType & ZodOpenApiParameters['query'];
  headers?: ZodOpenApiParameters['header'];
  /** JSON; `bytes`: at most, where that is more than usual */
  body?: { schema: z.ZodType; example: unknown; bytes?: number };
  /** any other body, which the handler reads */
  upload?: ZodOpenApiRequestBodyObject;
  answers: ZodOpenApiResponsesObject;
  /** beside what each request with a token or a body may get */
  refusals: readonly ProblemCode[];
  tag: string;
  summary: string;
  description: string;
}

/** With an access token. */
export interface Route extends Described {
  /** the token needs one of them */
  scope: readonly [Scope, ...Scope[]] | 'any';
  /** and this one, too */
  alsoNeeds?: Scope;
  /** What it takes of what organizations share, as app.ts says; `own`: its handler takes it, once it has read the body. */
  limits: 'reads' | 'statistics' | 'current' | 'changes' | 'revocations' | 'own';
  /** answered once this process goes by what it changed */
  inForce?: true;
  /** It takes as long as what is sent. */
  hasNoDeadline?: true;
}

/** With an API key, from pages: what checks it stands in app.ts. */
export interface KeyRoute extends Described {
  /** by their names in the document */
  auth: readonly ('apiKey' | 'accessToken')[];
}

/** By the names of their operations in the document. */
export type Routes = Record<string, Route>;
export type KeyRoutes = Record<string, KeyRoute>;

export type ParamsOf<R> = R extends { params: infer S extends z.ZodType } ? z.output<S> : object;
export type QueryOf<R> = R extends { query: infer S extends z.ZodType } ? z.output<S> : object;
export type BodyOf<R> = R extends { body: { schema: infer S extends z.ZodType } } ? z.output<S> : undefined;

/** As JSON. */
export type AnswerOf<R> = R extends { answers: infer Answers }
  ? {
      [Status in keyof Answers]: Answers[Status] extends {
        content: { 'application/json': { schema: infer S extends z.ZodType } };
      }
        ? z.output<S>
        : never;
    }[keyof Answers]
  : never;
