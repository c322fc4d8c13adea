/** Which of the owner's addresses a foreign one was perhaps made to look like. Misses are possible, so it only warns. */

/** characters that are told apart badly */
const alike: [RegExp, string][] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/0/g, 'o'],
  [/[1i]/g, 'l'],
  [/5/g, 's'],
  [/-/g, ''],
];

/** Shorter names stand in too many others. */
const shortest = 4;

/** Undefined where it looks like none of `origins`, or is of the same website. */
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

/** Without `*.` and `www.`; a leading `*` stands for all of its subdomains. */
const hostOf = (origin: string): string =>
  origin
    .replace(/^[^/]*\/\//, '')
    .replace(/^(\*\.)?(www\.)?/, '')
    .replace(/:\d+$/, '');

const isSameSite = (one: string, other: string): boolean =>
  one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`) || siteOf(one) === siteOf(other);

/** The last two parts, or three where the last but one is as short as in `co.uk`. */
function siteOf(host: string): string {
  const parts = host.split('.');
  return parts.slice((parts.at(-2) ?? '').length > 3 ? -2 : -3).join('.');
}

/** What people call it: `shop` of `shop.example`. */
const nameOf = (host: string): string => siteOf(host).split('.')[0] ?? '';

const asSeen = (label: string): string => alike.reduce((text, [what, as]) => text.replace(what, as), label);

/** Whether one character added, left out or replaced, or two exchanged, make one the other. */
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
