/** The place that a request comes from: by the headers of a trusted proxy, else by the address. Nothing is stored. */
import { clientAddress } from '#libs/base/http/client-address';
import type { Context } from '#libs/base/http/context';
import { parseCountry, parseFullRegion, parseRegion } from './codes.ts';
import { type Locate, openGeoipFile } from './geoip-file.ts';

interface PlaceRule {
  /** names of headers, in lower case */
  countryHeader: string | undefined;
  regionHeader: string | undefined;
  /** countries whose regions are determined */
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

/**
 * Rejects with a BadSetting if the file is unusable. If REGION_COUNTRIES is set and there is no region header, the file
 * must have regions, too.
 */
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
    const stated = (countryHeader && parseCountry(ctx.get(countryHeader))) || parseFullRegion(region)?.slice(0, 2);
    // the address is looked up only if the headers do not suffice
    const needsLookup =
      stated === undefined || (regionCountries.has(stated) && parseRegion(region, stated) === undefined);
    const found = needsLookup ? locate?.(clientAddress(ctx)) : undefined;
    const country = stated ?? found?.country;
    if (country === undefined || !regionCountries.has(country)) return { country, region: undefined };
    return { country, region: parseRegion(region, country) ?? (found?.country === country ? found.region : undefined) };
  };
}
