/** A client's address as `IP_MODE` lets it be stored. */
import { createHmac, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface AddressRule {
  mode: 'truncated' | 'hashed' | 'full' | 'none';
  /** for `hashed` */
  hashKey: KeyObject | undefined;
}

/** Undefined for none. */
export function storedAddress(address: string, { mode, hashKey }: AddressRule): string | undefined {
  if (!isIP(address) || mode === 'none') return undefined;
  if (mode === 'full') return address;
  if (mode === 'hashed' && hashKey) return hashed(address, hashKey);
  return address.includes(':') ? zeroAfter(address, 6) : `${address.slice(0, address.lastIndexOf('.'))}.0`;
}

const hashed = (address: string, key: KeyObject): string =>
  createHmac('sha256', key).update(address).digest('hex').slice(0, 32);

/** An address that was hashed before it came here. */
export const isHashedAddress = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** Keeps the first `count` bytes of an IPv6 address: 6 are its /48, 8 its /64. */
export function zeroAfter(address: string, count: number): string {
  const bytes = ipaddr.parse(address).toByteArray();
  return ipaddr.fromByteArray(bytes.map((byte, at) => (at < count ? byte : 0))).toString();
}
