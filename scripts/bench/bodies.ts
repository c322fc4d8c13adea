/** The one body shape of all measurements: what a shop's widget sends. */

/** A real browser's: Chrome on Windows. */
export const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

const visitors = 100_000;

/** Of ten visitors five accept all, three refuse, one chooses, and now and then one withdraws. */
const shares = [
  ...Array<string>(50).fill('accept_all'),
  ...Array<string>(32).fill('reject_all'),
  ...Array<string>(14).fill('custom'),
  ...Array<string>(4).fill('withdraw'),
];

export function makeBody(index: number): string {
  const decision = shares[(index * 37) % shares.length] ?? 'accept_all';
  const allowed = decision === 'accept_all';
  return JSON.stringify({
    decision,
    visitorId: `visitor-${String((index * 7_919) % visitors).padStart(6, '0')}`,
    preferences: { necessary: true, analytics: allowed, marketing: allowed || decision === 'custom' },
    bannerVersion: '2.4.1',
    policyVersion: '2026-09',
    pageUrl: `https://shop.example/products/${index % 500}?utm_source=newsletter`,
  });
}
