/** Texts that browsers send as their user agent: 40 of each of the last 50 versions, the newest first. */

const systems = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'Linux; Android 10; K',
];
const phones = ['Linux; Android 14; SM-A546B', 'Linux; Android 13; SM-G991B', 'Linux; Android 15; Pixel 8'];
const chromiumBrands = ['', 'Edg', 'OPR', 'Vivaldi'];

const chromium = (version: number) =>
  [...systems, ...phones, 'X11; CrOS x86_64 14541.0.0'].flatMap((system) =>
    chromiumBrands.map((brand) => {
      const safari = system.includes('Android') ? 'Mobile Safari' : 'Safari';
      const text = `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 ${safari}/537.36`;
      return brand === '' ? text : `${text} ${brand}/${version}.0.0.0`;
    }),
  );

function apple(version: number) {
  // 144 is the time of iOS 18.4, 143 that of 18.3
  const [major, minor] = [Math.floor(version / 10) + 4, version % 10];
  const system = `OS ${major}_${minor} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)`;
  return ['iPhone; CPU iPhone', 'iPad; CPU'].flatMap((device) =>
    ['Version', 'CriOS'].map(
      (browser) => `Mozilla/5.0 (${device} ${system} ${browser}/${major}.${minor} Mobile/15E148 Safari/604.1`,
    ),
  );
}

const firefox = (version: number) =>
  systems.map((system) => `Mozilla/5.0 (${system}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`);

const versions = Array.from({ length: 50 }, (_, back) => 144 - back);
export const userAgents = versions.flatMap((version) => [...chromium(version), ...apple(version), ...firefox(version)]);
