/** Where webhooks may be sent: what an address is, however it is written. */
import { describe, expect, it } from 'vitest';
import { type AddressPolicy, canAddress, checkAddresses, readWebhookUrl } from '#libs/webhooks/addresses';

const closed: AddressPolicy = { allowPrivate: false, networks: [], names: [], stores: [] };
const open: AddressPolicy = { ...closed, allowPrivate: true };
/** As wide as an operator can make it. */
const wide: AddressPolicy = { ...open, networks: ['0.0.0.0/0', '::/0'], names: ['n8n'] };

describe('an address', () => {
  it.each([
    '93.184.215.14',
    '2606:4700::1111',
    '::ffff:93.184.215.14',
    // NAT64 of a public address, which is how IPv6-only networks reach IPv4
    '64:ff9b::5db8:d70e',
  ])('of the internet at large is public: %s', (address) => {
    expect(canAddress(address, closed)).toBe(true);
  });

  it('of this machine is for trying out alone', () => {
    const addresses = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'];
    for (const reach of [closed, open])
      expect(addresses.filter((address) => canAddress(address, reach))).toEqual(reach === open ? addresses : []);
  });

  it.each([
    ['this network', '0.0.0.0', '0.1.2.3', '::'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '::ffff:10.0.0.1', '64:ff9b::a00:1'],
    ['link-local, as of clouds', '169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fe80::1'],
    ['shared by a carrier', '100.64.0.1', '100.127.255.255'],
    ['unique local', 'fc00::1', 'fd00:ec2::254'],
    ['deprecated', '::2', '::7f00:1', '::a00:1', 'fec0::1', '192.88.99.1'],
    ['around other addresses', '2002:7f00:1::', '2001::1', '64:ff9b:1::1'],
    ['for many', '224.0.0.1', '255.255.255.255', 'ff02::1'],
    ['for documents and benches', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1'],
    ['assigned to nobody', '240.0.0.1', '4000::1', '8000::1', '100::1', '5f00::1'],
    ['no address', '', 'localhost', '1.2.3.4.5', '1.2.3.4%eth0'],
  ])('is not sent to, ever: %s', (_, ...addresses) => {
    expect(addresses.filter((address) => canAddress(address, closed) || canAddress(address, open))).toEqual([]);
  });

  it.each([
    ['link-local', '169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fe80::1'],
    ['metadata of clouds', '168.63.129.16', '100.100.100.200', '::ffff:100.100.100.200', 'fd00:ec2::254'],
    ['metadata of another cloud', 'fd20:ce::254'],
    ['for many, for none, and no address', '0.0.0.0', '::', '224.0.0.1', 'ff02::1', '255.255.255.255', 'localhost'],
  ])('is not sent to, whatever the operator allows: %s', async (_, ...addresses) => {
    for (const address of addresses) {
      expect([address, canAddress(address, wide)]).toEqual([address, false]);
      const check = checkAddresses(new URL('http://n8n:5678/'), [address], wide, async () => []);
      await expect(check, address).rejects.toThrow('n8n leads to');
    }
  });
});

it.each([
  ...['http://receiver.example/', 'ftp://receiver.example/', 'https://user:password@receiver.example/', ''],
  ...['https://receiver.example/#fragment', 'https://receiver.example:22/', 'https://receiver.example:80/'],
  ...['https://localhost/', 'https://a.localhost./', 'https://[::ffff:127.0.0.1]/', 'https://10.1.2.3/'],
  ...['https://2130706433/', 'https://0177.0.0.1/', 'https://0x7f.1/', 'https://①②⑦.⓪.⓪.①/', 'receiver.example'],
])('%s is no address of a receiver', (url) => {
  expect(readWebhookUrl(url, closed)).toHaveProperty('refused');
});

describe('what the operator allows', () => {
  const allowed: AddressPolicy = {
    ...closed,
    networks: ['192.168.1.0/24', 'fd12::/16'],
    names: ['n8n'],
    stores: [
      { host: 'redis', port: 6379 },
      // no name server knows these
      { host: 'localhost', port: 6380 },
      { host: 'nowhere.invalid', port: 6381 },
      { host: '192.168.1.9', port: 5432 },
    ],
  };
  const resolve = async (host: string) => {
    if (host === 'redis') return ['192.168.1.8', '::1'];
    throw new Error(`${host} is unknown`);
  };
  const check = (url: string, ...addresses: string[]) => checkAddresses(new URL(url), addresses, allowed, resolve);

  it('is taken over http and on any port', () => {
    const urls = ['http://192.168.1.20/hook', 'http://n8n:5678/', 'https://N8N:22/', 'http://[fd12::1]:81/'];
    expect(urls.map((url) => readWebhookUrl(url, allowed))).toEqual(urls.map((url) => ({ url: new URL(url).href })));
    for (const url of urls) expect(readWebhookUrl(url, closed)).toHaveProperty('refused');
    // where a name leads is known at the connection
    expect(readWebhookUrl('http://other.internal/', allowed)).toHaveProperty('url');
    for (const url of ['http://192.168.2.20/', 'https://10.0.0.1/', 'https://192.168.1.9:5432/', 'http://redis:6379/'])
      expect(readWebhookUrl(url, allowed), url).toHaveProperty('refused');
  });

  it.each([
    ['http://n8n:5678/', '172.18.0.5'],
    ['http://other.internal:81/', '192.168.1.20', 'fd12::1'],
    ['https://hooks.example/', '93.184.215.14'],
    // beside a store, on a port of its own
    ['http://n8n:5678/', '192.168.1.9'],
  ])('is sent to: %s at %s', async (url, ...addresses) => {
    await expect(check(url, ...addresses)).resolves.toBeUndefined();
  });

  it.each([
    ['http over the internet', 'http://other.internal/', '93.184.215.14'],
    ['a low port there', 'https://other.internal:25/', '93.184.215.14'],
    ['another network', 'https://hooks.example/', '192.168.2.20'],
    ['one address of two', 'http://other.internal/', '192.168.1.20', '10.0.0.1'],
    ['a store by its name', 'http://n8n:6379/', '::ffff:192.168.1.8'],
    ['a store on this machine', 'http://n8n:6379/', '::1'],
    ['a store by its address', 'http://other.internal:5432/', '192.168.1.9'],
  ])('is not sent to: %s', async (_, url, ...addresses) => {
    await expect(check(url, ...addresses)).rejects.toThrow(/ leads to /);
  });

  it('is not sent to a store that only files name, nor to the port of one that is not found', async () => {
    await expect(check('http://n8n:6380/', '127.0.0.1')).rejects.toThrow('n8n leads to a store at 127.0.0.1');
    await expect(check('http://n8n:6381/', '192.168.1.20')).rejects.toThrow('nowhere.invalid cannot be found');
    await expect(check('http://n8n:6382/', '127.0.0.1')).resolves.toBeUndefined();
  });
});
