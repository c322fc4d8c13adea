/** Where a request comes from: by the headers of a trusted proxy, else by the address. For each request alone: nothing is kept. */
import { clientAddress } from '#libs/base/http/client-address';
import type { Context } from '#libs/base/http/context';
import { countryIn, regionIn, wholeRegionIn } from './codes.ts';
import { type Locate, openGeoipFile } from './geoip-file.ts';

interface PlaceRule {
  /** in lower case, as the other header */
  countryHeader: string | undefined;
  regionHeader: string | undefined;
  /** those whose regions are told */
  regionCountries: ReadonlySet<string>;
  /** GEOIP_FILE; undefined: none */
  geoipFile: string | undefined;
}

/** ISO codes; undefined where unknown. */
export interface Place {
  country: string | undefined;
  region: string | undefined;
}

export type PlaceOf = (ctx: Context) => Place;

/** Rejects with a BadSetting where the file cannot serve. It has to have regions where nothing else tells them. */
export async function openPlaceOf(rule: PlaceRule): Promise<PlaceOf> {
  const { geoipFile: file, regionHeader, regionCountries } = rule;
  const needsRegions = regionCountries.size > 0 && regionHeader === undefined;
  return createPlaceOf(rule, file === undefined ? undefined : await openGeoipFile(file, { needsRegions }));
}

function createPlaceOf(
  { countryHeader, regionHeader, regionCountries }: PlaceRule,
  locate: Locate | undefined,
): PlaceOf {
  return (ctx) => {
    const region = regionHeader === undefined ? '' : ctx.get(regionHeader);
    const told = (countryHeader && countryIn(ctx.get(countryHeader))) || wholeRegionIn(region)?.slice(0, 2);
    // the file is read only for what the headers leave open
    const isOpen = told === undefined || (regionCountries.has(told) && regionIn(region, told) === undefined);
    const found = isOpen ? locate?.(clientAddress(ctx)) : undefined;
    const country = told ?? found?.country;
    if (country === undefined || !regionCountries.has(country)) return { country, region: undefined };
    return { country, region: regionIn(region, country) ?? (found?.country === country ? found.region : undefined) };
  };
}
