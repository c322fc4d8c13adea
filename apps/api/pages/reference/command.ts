/** An operation as a curl command, with an example value for each required part. */
import type { Operation, Parameter } from './openapi-document.ts';

const headers: Record<string, string> = {
  apiKey: `-H "x-api-key: $KEY"`,
  accessToken: `-H "authorization: Bearer $TOKEN"`,
};

const exampleOf = ({ name, schema }: Parameter): string => String(schema.example ?? schema.minimum ?? name);

export function commandOf({ method, path, security, parameters = [], requestBody }: Operation): string {
  const inPath = parameters.filter((each) => each.in === 'path');
  const inQuery = parameters.filter((each) => each.in === 'query' && each.required);
  const filled = inPath.reduce((sofar, each) => sofar.replace(`{${each.name}}`, exampleOf(each)), path);
  const query = inQuery.map((each) => `${each.name}=${exampleOf(each)}`).join('&');
  const [scheme] = Object.keys(security[0] ?? {});
  const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$API${filled}${query && `?${query}`}"`,
    ...(scheme ? [headers[scheme]] : []),
    ...(type ? [`-H 'content-type: ${type}'`] : []),
    ...(body
      ? [typeof body.example === 'string' ? '--data-binary @FILE' : `-d '${JSON.stringify(body.example)}'`]
      : []),
  ].join(' \\\n  ');
}
