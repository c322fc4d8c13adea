/** What the drills, the fuzzer and the bench send to an API. */
import jsonwebtoken from 'jsonwebtoken';

export interface Site {
  organizationId: string;
  domainId: string;
  apiKey: string;
}

/** Also good for an API whose clock is years ahead. */
export const signToken = (organizationId: string, secret: string, scope = 'read'): string =>
  jsonwebtoken.sign({ sub: 'script', org: organizationId, scope }, secret, { expiresIn: '10y', noTimestamp: true });

export const postRecord = (
  baseUrl: string,
  { domainId, apiKey }: Omit<Site, 'organizationId'>,
  body: object,
  signal: AbortSignal | null = null,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${baseUrl}/v1/consent/${domainId}/record`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey, ...headers },
    body: JSON.stringify(body),
    signal,
  });
