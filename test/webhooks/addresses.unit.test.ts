/** Where webhooks may be sent: what an address is, however it is written. */
import { describe, expect, it } from 'vitest';
import { canAddress } from '#libs/webhooks/addresses';

describe('an address', () => {
  it.each([
    '93.184.215.14',
    '2606:4700::1111',
    '::ffff:93.184.215.14',
    // NAT64 of a public address, which is how IPv6-only networks reach IPv4
    '64:ff9b::5db8:d70e',
  ])('of the internet at large is public: %s', (address) => {
    expect(canAddress(address, false)).toBe(true);
  });

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'])(
    'of this machine is for trying out alone: %s',
    (address) => {
      expect([canAddress(address, false), canAddress(address, true)]).toEqual([false, true]);
    },
  );

  it.each([
    ['this network', '0.0.0.0', '0.1.2.3', '::'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '::ffff:10.0.0.1', '64:ff9b::a00:1'],
    [
      'link-local, with the metadata of clouds',
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      'fe80::1',
    ],
    ['shared by a carrier', '100.64.0.1', '100.127.255.255'],
    ['unique local', 'fc00::1', 'fd00:ec2::254'],
    ['deprecated', '::2', '::7f00:1', '::a00:1', 'fec0::1', '192.88.99.1'],
    ['around other addresses', '2002:7f00:1::', '2001::1', '64:ff9b:1::1'],
    ['for many', '224.0.0.1', '255.255.255.255', 'ff02::1'],
    ['for documents and benches', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1'],
    ['assigned to nobody', '240.0.0.1', '4000::1', '8000::1', '100::1', '5f00::1'],
    ['no address', '', 'localhost', '1.2.3.4.5', '1.2.3.4%eth0'],
  ])('is not sent to, ever: %s', (_, ...addresses) => {
    expect(addresses.filter((address) => canAddress(address, false) || canAddress(address, true))).toEqual([]);
  });
});
