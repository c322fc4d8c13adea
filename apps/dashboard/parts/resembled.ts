/** Finds the owner's address that a foreign one may imitate. It can miss some, so it only warns. */

/** characters that look alike */
const alike: [RegExp, string][] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/0/g, 'o'],
  [/[1i]/g, 'l'],
  [/5/g, 's'],
  [/-/g, ''],
];

/** Shorter names occur within too many others. */
const shortest = 4;

/** Undefined if it resembles none of `origins`, or belongs to the same website. */
export function resembled(origin: string, origins: readonly string[]): string | undefined {
  const host = hostOf(origin);
  if (origins.some((own) => isSameSite(host, hostOf(own)))) return undefined;
  const shown = host.split('.').map(asSeen);
  return origins.find((own) => {
    const name = asSeen(nameOf(hostOf(own)));
    if (name.length < shortest) return false;
    return shown.some((label) => label.includes(name) || isOneAway(label, name));
  });
}

/** The host without `*.` and `www.`; a leading `*` covers all subdomains. */
const hostOf = (origin: string): string =>
  origin
    .replace(/^[^/]*\/\//, '')
    .replace(/^(\*\.)?(www\.)?/, '')
    .replace(/:\d+$/, '');

const isSameSite = (one: string, other: string): boolean =>
  one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`) || siteOf(one) === siteOf(other);

/** The last two labels, or three if the second to last is as short as in `co.uk`. */
function siteOf(host: string): string {
  const parts = host.split('.');
  return parts.slice((parts.at(-2) ?? '').length > 3 ? -2 : -3).join('.');
}

/** The distinctive label: `shop` in `shop.example`. */
const nameOf = (host: string): string => siteOf(host).split('.')[0] ?? '';

const asSeen = (label: string): string => alike.reduce((text, [what, as]) => text.replace(what, as), label);

/** Whether the two differ by one added, missing, replaced or swapped character. */
function isOneAway(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [left, right] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  return (left.length <= 1 && right.length <= 1) || (left.length === 2 && left === [...right].reverse().join(''));
}
