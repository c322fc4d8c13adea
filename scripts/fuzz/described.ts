/** Whether a response is one that the OpenAPI document describes. */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export interface Described {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
}

/** `path` is without the query; `type` is the media type, possibly with parameters. */
type GivenAnswer = Record<'method' | 'path' | 'type', string> & { status: number; body: unknown };

/** Returns how the response differs from the document; null also for an unknown operation. */
export function createCheck(document: Described): (answer: GivenAnswer) => string | null {
  const ajv = new Ajv2020.default({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'openapi', ...document });
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    // the number of a tile may contain slashes
    pattern: new RegExp(`^${template.replace('{tile}', '.+').replace(/\{\w+\}/g, '[^/]+')}$`),
  }));

  /** by pointer: compiling one takes longer than checking many responses */
  const compiled = new Map<string, ValidateFunction>();
  const validatorAt = (steps: string[]): ValidateFunction => {
    const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#/${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  };

  return ({ method, path, status, type, body }) => {
    const template = path in document.paths ? path : templates.find(({ pattern }) => pattern.test(path))?.template;
    const operation = template && document.paths[template]?.[method.toLowerCase()];
    if (!template || !operation) return null;
    const response = operation.responses[String(status)];
    if (!response) return `${method} ${path} answered ${status}, which its description lacks`;
    const { content = {} } = response;
    if (type === '' && !response.content) return null;
    const mediaType = type.split(';')[0] ?? '';
    if (!content[mediaType]) return `${method} ${path} ${status} is ${type}, which its description lacks`;
    const schema = ['responses', String(status), 'content', mediaType, 'schema'];
    const validate = validatorAt(['paths', template, method.toLowerCase(), ...schema]);
    if (validate(body)) return null;
    return `${method} ${path} ${status}: ${ajv.errorsText(validate.errors)}`;
  };
}
