/** `Prefer: handling=strict` (RFC 7240): whoever tests an integration wants mistakes refused instead of mended. */
import type { Context } from './context.ts';

/** Whether the request asks for it; the response then says that it was heard. */
export function wantsStrict({ req, res }: Context): boolean {
  const { prefer } = req.headers;
  if (prefer === undefined || !isStrict(String(prefer))) return false;
  res.setHeader('Preference-Applied', 'handling=strict');
  return true;
}

/** Of several `handling` the first counts. */
function isStrict(prefer: string): boolean {
  const preferences = prefer.replaceAll(/"[^"]*[,;][^"]*"/g, '""').split(',');
  const handling = preferences
    .map((each) => (each.split(';')[0] ?? '').split('='))
    .find(([name = '']) => name.trim().toLowerCase() === 'handling');
  return handling?.[1]?.trim().replaceAll('"', '').toLowerCase() === 'strict';
}
