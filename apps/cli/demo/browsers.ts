/** User agents as browsers of that time sent them, and those of crawlers. */
import type { Random } from './random.ts';

const week = 7 * 24 * 60 * 60 * 1000;

/** Chrome and Firefox come out every four weeks, Safari with each autumn's systems. */
const release = (time: number, first: number, at: string): number =>
  first + Math.max(0, Math.floor((time - Date.parse(at)) / (4 * week)));
const chromeAt = (time: number) => release(time, 131, '2024-11-12');
const firefoxAt = (time: number) => release(time, 133, '2024-11-26');
const safariAt = (time: number) => {
  const [year = 0, month = 0] = new Date(time).toISOString().split('-').map(Number);
  const autumns = year - 2000 + (month >= 9 ? 1 : 0);
  // 18 was followed by 26, named for the year to come
  return autumns >= 26 ? `${autumns}.${month >= 9 ? 0 : 3}` : '18.5';
};

const devices = {
  windowsChrome: 21,
  windowsEdge: 8,
  windowsFirefox: 5,
  macSafari: 7,
  macChrome: 5,
  linuxFirefox: 2,
  androidChrome: 23,
  androidSamsung: 4,
  iphoneSafari: 23,
  ipadSafari: 2,
};

/** At work, fewer telephones. */
export const officeDevices = { ...devices, androidChrome: 6, androidSamsung: 1, iphoneSafari: 9, windowsEdge: 19 };

export type Device = keyof typeof devices;

export const pickDevice = (random: Random, isOffice: boolean): Device =>
  random.pick(isOffice ? officeDevices : devices);

export function userAgentOf(device: Device, time: number): string {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  const chrome = `Chrome/${chromeAt(time)}.0.0.0`;
  const safari = `Version/${safariAt(time)}`;
  const firefox = firefoxAt(time);
  switch (device) {
    case 'windowsChrome':
      return `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} ${chrome} Safari/537.36`;
    case 'windowsEdge':
      return `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} ${chrome} Safari/537.36 Edg/${chromeAt(time)}.0.0.0`;
    case 'windowsFirefox':
      return `Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${firefox}.0) Gecko/20100101 Firefox/${firefox}.0`;
    case 'macSafari':
      return `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) ${safari} Safari/605.1.15`;
    case 'macChrome':
      return `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} ${chrome} Safari/537.36`;
    case 'linuxFirefox':
      return `Mozilla/5.0 (X11; Linux x86_64; rv:${firefox}.0) Gecko/20100101 Firefox/${firefox}.0`;
    case 'androidChrome':
      return `Mozilla/5.0 (Linux; Android 10; K) ${webkit} ${chrome} Mobile Safari/537.36`;
    case 'androidSamsung':
      return `Mozilla/5.0 (Linux; Android 10; K) ${webkit} SamsungBrowser/28.0 ${chrome} Mobile Safari/537.36`;
    case 'iphoneSafari':
      return `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ${safari} Mobile/15E148 Safari/604.1`;
    case 'ipadSafari':
      return `Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ${safari} Mobile/15E148 Safari/604.1`;
  }
}

/** What the API marks as `bot`. */
export const crawlers = [
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
] as const;

/** Firefox has the switch for Global Privacy Control, most others need an extension. */
export const sendsGpc = (device: Device): boolean => device.endsWith('Firefox') || device === 'macChrome';
