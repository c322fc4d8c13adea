/** Texts that browsers send as their user agent: 40 of each of the last 50 versions, the newest first. */

const desktops = ['Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7', 'X11; Linux x86_64'];
const phones = ['10; K', '14; SM-A546B', '13; SM-G991B', '15; Pixel 8', '14; SM-X710'].map(
  (model) => `Linux; Android ${model}`,
);
const brands = ['', ' Edg', ' OPR', ' Vivaldi', ' YaBrowser'];

const textsOf = (version: number) =>
  [...desktops, ...phones].flatMap((system) =>
    brands.map((brand) => {
      const safari = phones.includes(system) ? 'Mobile Safari' : 'Safari';
      const chrome = `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0`;
      return `${chrome} ${safari}/537.36${brand && `${brand}/${version}.0.0.0`}`;
    }),
  );

export const userAgents = Array.from({ length: 50 }, (_, back) => textsOf(144 - back)).flat();
