/** The parts of the OpenAPI document that its page shows. */
import { z } from 'zod';
import { createOpenApi } from '../../openapi.ts';

const count = z.number().optional();
const text = z.string().optional();

const field = z.object({
  $ref: text,
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: text,
  format: text,
  pattern: text,
  minLength: count,
  maxLength: count,
  minimum: count,
  maximum: count,
  maxItems: count,
  maxProperties: count,
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  example: z.unknown().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), field).optional();
  },
  get items() {
    return field.optional();
  },
  get anyOf() {
    return z.array(field).optional();
  },
  get oneOf() {
    return z.array(field).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), field]).optional();
  },
});
export type Field = z.infer<typeof field>;

const content = z.record(z.string(), z.object({ schema: field, example: z.unknown().optional() })).optional();
export type Content = z.infer<typeof content>;

const parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().optional(),
  schema: field,
});
export type Parameter = z.infer<typeof parameter>;

const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  tags: z.tuple([z.string()]),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(parameter).optional(),
  requestBody: z.object({ description: text, content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content })),
});

const described = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({
    schemas: z.record(z.string(), field),
    securitySchemes: z.record(z.string(), z.object({ description: z.string() })),
  }),
});

export interface Operation extends z.infer<typeof operation> {
  method: string;
  path: string;
}

export function readDocument() {
  const { paths, ...document } = described.parse(createOpenApi());
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]): Operation => ({ ...each, path, method: method.toUpperCase() })),
  );
  return { ...document, operations };
}
