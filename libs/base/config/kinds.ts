/** The kinds of settings: how the text is parsed, and the rule in the error message. */
import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { scopes, scopesAmong } from '../terms/terms.ts';
import { withSocketSpelled } from './postgres-socket.ts';

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .meta({ rule: `a whole number from ${min} to ${max}` });

export const ratio = z
  .string()
  .regex(/^(0?\.\d{1,9}|[01]|1\.0{1,9})$/)
  .transform(Number)
  .meta({ rule: 'a number from 0 to 1' });

/** As the specification of OpenTelemetry: `name=value,name=value`, values percent-encoded. */
export const headers = z
  .string()
  .regex(/^ *[\w!#$&'*.^`|~-]+ *=[^,;]*(, *[\w!#$&'*.^`|~-]+ *=[^,;]*)*$/)
  .refine((text) => isDecodable(text))
  .transform((text) =>
    Object.fromEntries(
      text.split(',').map((pair) => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
      }),
    ),
  )
  .refine((pairs) => Object.values(pairs).every((value) => /^[\t\x20-\x7e]*$/.test(value)))
  .meta({ rule: 'headers: name=value, separated by commas' });

export const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values).meta({ rule: `one of ${values.join(', ')}` });

export const address = (...protocols: string[]) =>
  z
    .string()
    .refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol.slice(0, -1)))
    .refine((text) => isDecodable(text))
    // the driver of Postgres would use any host of a list that responds
    .refine((text) => URL.canParse(text) && !new URL(text).host.includes(','))
    .meta({ rule: `an address that begins with ${protocols.map((name) => `${name}://`).join(' or ')}, of one host` });

export const postgresAddress = z
  .string()
  .transform(withSocketSpelled)
  .pipe(address('postgres', 'postgresql'))
  .meta({ rule: 'an address that begins with postgres:// or postgresql://, of one host' });

/** `fetch` refuses an address with a user name or password. */
export const webAddress = address('http', 'https')
  .refine((text) => URL.canParse(text) && new URL(text).username === '' && new URL(text).password === '')
  .meta({ rule: 'an address that begins with http:// or https://, without a user name or password' });

export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);

/** Only plain characters in the path, because it is used in pages and links. */
export const publicAddress = z
  .string()
  .refine((text) => URL.canParse(text) && new URL(text).host !== '')
  .transform((text) => new URL(text))
  .refine(({ protocol, hostname }) => protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
  .refine(({ username, password, search, hash }) => username + password + search + hash === '')
  .refine(({ pathname }) => /^(\/[\w.~-]+)*\/?$/.test(pathname))
  .meta({ rule: 'an address that begins with https:// (or http:// on loopback), with no more than a host and a path' });

/** With a stray % in a password the driver would throw later, with a stack trace. */
const isDecodable = (address: string): boolean => {
  try {
    decodeURIComponent(address);
    return true;
  } catch {
    return false;
  }
};

const isNode = (node: string): boolean => {
  const [, address, name, port] = /^(?:\[([^\s\]]+)\]|([^\s:[\]]+)):(\d+)$/.exec(node) ?? [];
  return Number(port) <= 65_535 && (name !== undefined || (address !== undefined && isIPv6(address)));
};

/** With `_keeper` appended it is a name that needs no quotes in Postgres. */
export const rolePrefix = z
  .string()
  .regex(/^(?!pg_)[a-z][a-z0-9_]{0,39}$/)
  .meta({ rule: '1 to 40 lowercase letters, digits or _, beginning with a letter, not with pg_' });

export const text = z.string().meta({ rule: 'text' });
export const port = wholeNumber(0, 65_535);
export const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .meta({ rule: 'true or false' });
export const nodes = z
  .string()
  .transform((value) => value.split(','))
  .refine((list) => list.every(isNode))
  .meta({ rule: 'host:port, separated by commas, an IPv6 address in brackets' });

const isNetwork = (text: string): boolean => ipaddr.isValidCIDR(text) || ipaddr.isValid(text);
/** If the last label has only digits, it is an incomplete address. */
const isHostName = (text: string): boolean =>
  /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i.test(text) && !/(^|\.)\d+$/.test(text);

const asNetwork = (text: string): string => {
  if (ipaddr.isValidCIDR(text)) return text;
  return `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`;
};

export const networksAndNames = z
  .string()
  .transform((value) => value.split(',').map((part) => part.trim()))
  .refine((list) => list.every((part) => isNetwork(part) || isHostName(part)))
  .transform((list) => ({
    networks: list.filter(isNetwork).map(asNetwork),
    names: list.filter((part) => !isNetwork(part)).map((name) => name.toLowerCase()),
  }))
  .meta({ rule: 'networks and host names, separated by commas, such as 192.168.1.0/24,n8n' });

/** Separated as OAuth scopes are. */
export const words = z
  .string()
  .regex(/^[\x21-\x7e]+( +[\x21-\x7e]+)*$/)
  .transform((value) => value.split(/ +/))
  .meta({ rule: 'words, separated by spaces' });

/** Our own scopes; `none` is the empty list. */
export const scopeWords = z
  .string()
  .transform((value) => (value === 'none' ? [] : value.split(/ +/)))
  .refine((words) => words.every((word) => scopes.some((scope) => scope === word)))
  .transform(scopesAmong)
  .meta({ rule: `one or more of ${scopes.join(', ')}, separated by spaces, or none` });

export const keyId = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/)
  .meta({ rule: 'at most 128 printable characters without spaces' });

/** The whole text is one claim's name. Claims with a registered meaning are not allowed. */
export const claim = z
  .string()
  .regex(/^[\x21-\x7e]{1,256}$/)
  .refine((text) => !['__proto__', 'sub', 'exp', 'iat', 'nbf', 'iss', 'aud', 'jti'].includes(text))
  .meta({ rule: "a claim's name: at most 256 printable characters without spaces" });

export const hexKey = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/)
  .meta({ rule: '64 hex digits' });

/** What the logs' names begin with: as a key's name in C2SP signed-note, up to the slash before the domain's id. */
export const logName = z
  .string()
  .regex(/^[^\s+\p{Cc}]{1,200}$/u)
  .meta({ rule: 'at most 200 characters, no spaces and no +' });
