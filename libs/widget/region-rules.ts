/** Rules for the setting `regions`. */
import { countriesOf } from './places.ts';
import { below, isObject, listOf, members, oneOf, type Report, type Rule } from './setting-rules.ts';

/** The most rules of one banner. */
const most = 50;

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** Codes that have a name but are no countries. */
const noCountries: ReadonlySet<string> = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']);

/** Why the code is invalid; undefined if it is valid. */
function whyNoPlace(code: string): string | undefined {
  if (countriesOf(code)) return undefined;
  if (code === '*') return 'stands alone: "in": "*"';
  const [written, country, region] = /^([A-Z]{2})(-[A-Z0-9]{1,3})?$/.exec(code.toUpperCase()) ?? [];
  if (!country) return 'must be a country such as US, a region such as US-CA, EU or EEA';
  if (code !== written) return `must be in upper case: ${written}`;
  // codes of former countries, and UK, are aliases
  const today = new Intl.Locale(`und-${country}`).region ?? country;
  if (names.of(country) === undefined || noCountries.has(country)) return `there is no country ${country}`;
  return today === country ? undefined : `the country ${country} has the code ${today}${region ?? ''}`;
}

/** `ids`: of the banner's categories. */
export function regionsRule(ids: ReadonlySet<string>, months: Rule): Rule {
  return (value, path, report) => {
    /** code → the rule that has it */
    const seen = new Map<string, number>();
    let everywhere: number | undefined;
    const inRule: Rule = (given, at) => {
      const index = Number(at.split('/').at(-2));
      if (everywhere !== undefined) report(at, 'is never reached: an earlier rule is for *, every place');
      else if (given === '*') everywhere = index;
      else if (Array.isArray(given) && given.length === 0) report(at, 'needs at least one place');
      else if (Array.isArray(given))
        listOf((code, where) => place(code, where, index, seen, report))(given, at, report);
      else report(at, 'must be a list of places, or *');
    };
    const onRule: Rule = (given, at) =>
      listOf((id, where) => {
        if (typeof id !== 'string' || !ids.has(id)) report(where, 'is no category of this banner');
        else if (id === 'necessary') report(where, 'is always on');
      })(given, at, report);
    const region = members(
      { in: inRule, model: oneOf('opt_in', 'opt_out', 'none'), on: onRule, maxAgeMonths: months },
      ['in', 'model'],
    );
    listOf((each, at) => {
      region(each, at, report);
      if (isObject(each) && each.on !== undefined && each.model !== 'opt_in')
        report(below(at, 'on'), 'belongs to opt_in: everything else runs anyway');
    }, most)(value, path, report);
  };
}

function place(code: unknown, at: string, rule: number, seen: Map<string, number>, report: Report): void {
  const why = typeof code === 'string' ? whyNoPlace(code) : 'must be the code of a place';
  if (typeof code !== 'string' || why) {
    report(at, why ?? '');
    return;
  }
  const countries = countriesOf(code) ?? [code.slice(0, 2)];
  const groups = ['EU', 'EEA'].filter((group) => countries.every((each) => countriesOf(group)?.includes(each)));
  const covering = [code, ...(countries.length === 1 ? countries : []), ...groups];
  const found = covering.find((each) => seen.has(each) && (each === code || seen.get(each) !== rule));
  if (found === code) report(at, 'is named twice');
  else if (found) report(at, `is never reached: an earlier rule is for ${found}`);
  else seen.set(code, rule);
}
