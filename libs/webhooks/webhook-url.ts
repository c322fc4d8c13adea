/** The rules for a webhook's address that can be told without resolving its name. */
import ipaddr from 'ipaddr.js';
import { canAddress } from './public-address.ts';

/** The address in its one form, or what is wrong with it. `allowPrivate`: WEBHOOK_ALLOW_PRIVATE. */
export function readWebhookUrl(text: string, allowPrivate: boolean): { url: string } | { refused: string } {
  if (!URL.canParse(text)) return { refused: 'must be an address such as https://example.com/hook' };
  // decimal, octal and shortened addresses are ordinary ones from here on
  const url = new URL(text);
  const protocols = allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (!protocols.includes(url.protocol)) {
    const hint = url.protocol === 'http:' ? '; to try one out, set WEBHOOK_ALLOW_PRIVATE=true' : '';
    return { refused: `must begin with https://${hint}` };
  }
  if (url.username !== '' || url.password !== '') return { refused: 'must have no user name and no password' };
  if (text.includes('#')) return { refused: 'must have no fragment' };
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (port !== 443 && port < 1024) return { refused: 'must have port 443, or one from 1024 on' };
  if (!isPublicHost(hostOf(url), allowPrivate)) return { refused: 'must not be a private address' };
  return { url: url.href };
}

/** Without brackets, and without the dot that ends a name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

export const isLocalhost = (host: string): boolean => /(^|\.)localhost$/i.test(host);

function isPublicHost(host: string, allowPrivate: boolean): boolean {
  if (host === '') return false;
  if (ipaddr.isValid(host)) return canAddress(host, allowPrivate);
  return allowPrivate || !isLocalhost(host);
}
