import { expect, it } from 'vitest';
import { isTrustedHost } from '#libs/base/ops/port';

const loopback = ['127.0.0.1', '127.0.1.1', '::1', '::ffff:127.0.0.1'];
const network = ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::7', '192.168.127.1'];
const answersTo = (hosts: (string | undefined)[], addresses: string[]) =>
  hosts.flatMap((host) => addresses.map((address) => isTrustedHost(host, address, 'Node-7')));

it('the operations port on loopback accepts this machine’s names, addresses, and a probe without Host', () => {
  const names = ['localhost', 'LocalHost:3001', 'node-7:3001', undefined];
  const addresses = ['127.0.0.1:3001', '[::1]:3001', '10.1.2.3:3001', '[fd00::7]'];
  expect(new Set(answersTo([...names, ...addresses], loopback))).toEqual(new Set([true]));
});

it('the operations port on loopback accepts no other name, so that no page reaches it by DNS rebinding', () => {
  const others = ['evil.example', 'evil.example:3001', 'localhost.evil.example', '127.0.0.1.evil.example', ''];
  const odd = ['evil.example:127.0.0.1', 'localhost, evil.example', '[evil.example]', 'user@localhost'];
  expect(new Set(answersTo([...others, ...odd, 'node-7.evil.example'], loopback))).toEqual(new Set([false]));
});

it('the operations port on a network accepts the names that its operator gave it', () => {
  const names = ['assent.shop.svc.cluster.local:3001', 'assent:3001', '10.1.2.3', 'ops.example.com'];
  expect(new Set(answersTo(names, network))).toEqual(new Set([true]));
});
