/** What an organization has sent with each message, such as the receiver's own credentials. */
import { z } from 'zod';

const most = 10;
/** bytes of all names and values */
const longest = 4 * 1024;

/** What says how a message is sent, and what the service says of it. */
const own = /^(host|connection|transfer-encoding|keep-alive|upgrade|expect|te|trailer|content-.*|webhook-.*)$/;

/** Names in lower case. */
export type Headers = Record<string, string>;

export const headersGiven = z
  .record(
    z
      .string()
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, "must be a header's name")
      .refine((name) => !own.test(name.toLowerCase()), 'is set by the service'),
    z.string().regex(/^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII, without spaces around it'),
  )
  .refine((given) => Object.keys(given).length <= most, `must be at most ${most}`)
  .refine(
    (given) => Object.entries(given).flat().join('').length <= longest,
    `must have at most ${longest} bytes in all`,
  )
  .refine((given) => new Set(namesOf(given)).size === Object.keys(given).length, 'must not name one twice');

export const namesOf = (headers: Headers): string[] => Object.keys(headers).map((name) => name.toLowerCase());
