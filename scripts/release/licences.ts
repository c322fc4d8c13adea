/** Under which licences others wrote what we build with and ship. */

/** All of them allow what this project's own licence allows. CC-BY-4.0 is that of data: caniuse-lite. */
const allowed = '0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BlueOak-1.0.0 CC-BY-4.0 ISC MIT Unlicense'.split(' ');

/** Tools, of which nothing is shipped. */
const tools = /^(axe-core|argparse|lightningcss(-.*)?)$/;

/** `lock`: the text of package-lock.json */
export function checkLicences(lock: string): string[] {
  const { packages }: { packages: Record<string, { version: string; license?: string }> } = JSON.parse(lock);
  return Object.entries(packages).flatMap(([place, { version, license = 'none' }]) => {
    const name = place.split('node_modules/').at(-1) ?? '';
    if (isAllowed(license) || tools.test(name)) return [];
    return [`${name} ${version} has the licence ${license}, which nobody has allowed yet`];
  });
}

/** `A OR B` leaves the choice, `A AND B` does not. */
const isAllowed = (licence: string): boolean =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => allowed.includes(each)));
