import { expect, it } from 'vitest';
import { createExportPlaces } from '../../apps/api/log/export-places.ts';
import { createImportPlaces } from '../../apps/api/manage/import-places.ts';

it.each([
  ['exports', createExportPlaces, 1, /^your organization has an export/, /^too many exports/],
  ['imports', createImportPlaces, 4, /^your organization has 4 imports/, /^too many imports/],
] as const)(
  'of eight places for %s an organization has so many at once that others have theirs',
  (_, create, own, yours, all) => {
    const places = create();
    const organizations = Array.from({ length: 8 / own }, (__, index) => `org_${index}`);
    const taken = organizations.flatMap((id) => Array.from({ length: own }, () => places.take(id)));
    expect(() => places.take('org_0')).toThrow(yours);
    expect(() => places.take('org_other')).toThrow(all);
    taken[0]?.();
    expect(() => places.take('org_1')).toThrow(yours);
    const leave = places.take('org_0');
    expect(() => places.take('org_other')).toThrow(all);
    leave();
    places.take('org_other');
  },
);
