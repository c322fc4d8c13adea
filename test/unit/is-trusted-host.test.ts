import { describe, expect, it } from 'vitest';
import { isTrustedHost } from '#libs/telemetry/is-trusted-host';

describe('the operations port on loopback', () => {
  it.each(['localhost', 'LocalHost:3001', '127.0.0.1:3001', '[::1]:3001', '10.1.2.3:3001', '[fd00::7]', 'node-7:3001'])(
    'answers to %s',
    (host) => {
      for (const address of ['127.0.0.1', '127.0.1.1', '::1', '::ffff:127.0.0.1'])
        expect(isTrustedHost(host, address, 'Node-7')).toBe(true);
    },
  );

  it('answers a probe that sends no Host', () => {
    expect(isTrustedHost(undefined, '127.0.0.1', 'node-7')).toBe(true);
  });

  it.each([
    'evil.example',
    'evil.example:3001',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:127.0.0.1',
    'node-7.evil.example',
    'localhost, evil.example',
    '[evil.example]',
    'user@localhost',
    '',
  ])('does not answer to %j', (host) => {
    for (const address of ['127.0.0.1', '127.0.1.1', '::1', '::ffff:127.0.0.1'])
      expect(isTrustedHost(host, address, 'node-7')).toBe(false);
  });
});

describe('the operations port on a network', () => {
  it.each(['assent.shop.svc.cluster.local:3001', 'assent:3001', '10.1.2.3', 'ops.example.com'])(
    'answers to %s, the name that its operator gave it',
    (host) => {
      for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::7', '192.168.127.1'])
        expect(isTrustedHost(host, address, 'node-7')).toBe(true);
    },
  );
});
