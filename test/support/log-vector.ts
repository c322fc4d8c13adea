/** A domain's log of three entries, fixed to the byte; Go's golang.org/x/mod/sumdb/{note,tlog} accepts its proof. */
import { createPrivateKey, createPublicKey, hash, hkdfSync, sign, verify } from 'node:crypto';
import { utf8 } from '#libs/proof/tree/bytes';
import { formatCheckpoint } from '#libs/proof/tree/checkpoint';
import type { SealedRecord } from '#libs/proof/tree/entry';
import { leafHash } from '#libs/proof/tree/hash';
import { wholeTree } from '#libs/proof/tree/make-proofs';
import { formatNote } from '#libs/proof/tree/note';
import { verifierKey } from '#libs/proof/tree/verifier-key';

export const sha256 = (input: Uint8Array): Uint8Array => new Uint8Array(hash('sha256', input, 'buffer'));

/** The Ed25519 key of a log, as it is made from LOG_KEY (64 hex digits). */
export function logKey(key: string, origin: string) {
  const seed = Buffer.from(hkdfSync('sha256', Buffer.from(key, 'hex'), '', `assent log ${origin}`, 32));
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return {
    seed,
    publicKey: new Uint8Array(spki.subarray(-32)),
    sign: (text: string) => new Uint8Array(sign(null, Buffer.from(text), privateKey)),
  };
}

export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const key = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey]);
  return verify(null, message, { key, format: 'der', type: 'spki' }, signature);
}

const id = '019a0000-0000-7000-8000-000000000001';
const notice = 'ab'.repeat(32);

export const vector = {
  logKey: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
  origin: 'consent.example.com/dom_test',
  secret: '000102030405060708090a0b0c0d0e0f',
  seed: 'c589220b496c78094f834ba09c28a8e0947f456619a7dddd769eb4ce673f982a',
  verifierKey: 'consent.example.com/dom_test+8be9801a+Acdy00UP5w58pW3zXEyqOxe6hU9OGXQpbyrJprWwFt85',
  notice: { domainId: 'dom_test', notice, firstSeenAt: '2025-10-20T05:03:12.000Z' },
  record: {
    id,
    domainId: 'dom_test',
    decision: 'custom',
    decidedAt: '2025-10-20T05:03:11.360Z',
    receivedAt: '2025-10-20T05:03:12.000Z',
    visitorId: 'v-1',
    preferences: { analytics: true, 9: false, 10: true },
    source: 'banner',
    bannerVersion: '2.4.1',
    policyVersion: '2026-01',
    language: 'de',
    pageUrl: 'https://shop.example/',
    country: null,
    ip: '192.0.2.0',
    userAgent: 'Example/1.0',
    tcString: null,
    gppString: null,
    gpc: true,
    metadata: { b: 'x', a: 1 },
    bot: false,
    notice,
  } satisfies SealedRecord,
  erasure: { domainId: 'dom_test', id, erasedOn: '2025-11-01' },
  circumstances: {
    salt: '5c929032961769735bdf2de2ee9c8ef2',
    text: '{"preferences":{"10":true,"9":false,"analytics":true},"bannerVersion":"2.4.1","policyVersion":"2026-01","language":"de"}',
    commitment: 'P5XnFd4pq_zyXsVDnOUYpr0qssWEiUDC_Jv5gefh_bc',
  },
  private: {
    salt: 'ad3d79ca1c0a0f013def3da9a7c1bcc1',
    text: '{"visitorId":"v-1","ip":"192.0.2.0","userAgent":"Example/1.0","pageUrl":"https://shop.example/","metadata":{"a":1,"b":"x"}}',
    commitment: 'q1cn-f9fpLc2At2R0Quh6MJiaqZMEBEWMy8i99E8us8',
  },
  entries: [
    `{"v":1,"type":"notice","domain":"dom_test","notice":"${notice}","firstSeenAt":"2025-10-20T05:03:12.000Z"}`,
    `{"v":1,"type":"record","id":"${id}","domain":"dom_test","decision":"custom","decidedAt":"2025-10-20T05:03:11.360Z","receivedAt":"2025-10-20T05:03:12.000Z","source":"banner","notice":"${notice}","gpc":true,"circumstances":"P5XnFd4pq_zyXsVDnOUYpr0qssWEiUDC_Jv5gefh_bc","private":"q1cn-f9fpLc2At2R0Quh6MJiaqZMEBEWMy8i99E8us8"}`,
    `{"v":1,"type":"erasure","domain":"dom_test","id":"${id}","erasedOn":"2025-11-01"}`,
  ],
  leaves: [
    'be52f41dd1c4a8b077bb0b43dc76881bbc8108352af8b8eb7d2be599262e6096',
    'e5f6641fdb071196283825bcf6358765afe59ebdf04cf1e15971783c4b06a9d2',
    '028cdccc3805bac51952e02bcada218a40e49ca2c54508122d34e72e37e6e7a2',
  ],
  root: '64e02cccb940248fdf16133ce7339b1dd1a1d72fd2d736fb3f5f778984f30f6a',
  checkpoint: `consent.example.com/dom_test
3
ZOAszLlAJI/fFhM85zObHdGh1y/S1zb7P193iYTzD2o=

— consent.example.com/dom_test i+mAGrrGj7mTADa08ksf+62U1KORgyWDDA2fmx7QjGnE6ykavzwcjifvOUw5ZbJu+Ck0dSqZOjhbKSo3DMPmkvb7bgo=
`,
  /** of entry 1 */
  proof: `c2sp.org/tlog-proof@v1
extra eyJ2IjoxLCJ0eXBlIjoicmVjb3JkIiwiaWQiOiIwMTlhMDAwMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDEiLCJkb21haW4iOiJkb21fdGVzdCIsImRlY2lzaW9uIjoiY3VzdG9tIiwiZGVjaWRlZEF0IjoiMjAyNS0xMC0yMFQwNTowMzoxMS4zNjBaIiwicmVjZWl2ZWRBdCI6IjIwMjUtMTAtMjBUMDU6MDM6MTIuMDAwWiIsInNvdXJjZSI6ImJhbm5lciIsIm5vdGljZSI6ImFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWJhYmFiYWIiLCJncGMiOnRydWUsImNpcmN1bXN0YW5jZXMiOiJQNVhuRmQ0cHFfenlYc1ZEbk9VWXByMHFzc1dFaVVEQ19KdjVnZWZoX2JjIiwicHJpdmF0ZSI6InExY24tZjlmcExjMkF0MlIwUXVoNk1KaWFxWk1FQkVXTXk4aTk5RTh1czgifQ==
index 1
vlL0HdHEqLB3uwtD3HaIG7yBCDUq+LjrfSvlmSYuYJY=
AozczDgFusUZUuArytohikDknKLFRQgSLTTnLjfm56I=

consent.example.com/dom_test
3
ZOAszLlAJI/fFhM85zObHdGh1y/S1zb7P193iYTzD2o=

— consent.example.com/dom_test i+mAGrrGj7mTADa08ksf+62U1KORgyWDDA2fmx7QjGnE6ykavzwcjifvOUw5ZbJu+Ck0dSqZOjhbKSo3DMPmkvb7bgo=
`,
};

/** A log of these entries, with the path of each, signed by its own key. */
export function signedLog(entries: string[], origin = vector.origin) {
  const leaves = entries.map((entry) => leafHash(sha256, utf8(entry)));
  const { root, paths } = wholeTree(sha256, leaves);
  const { publicKey, sign } = logKey(vector.logKey, origin);
  const key = verifierKey(sha256, origin, publicKey);
  const text = formatCheckpoint(origin, entries.length, root);
  return { key, paths, checkpoint: formatNote(text, [{ name: origin, keyId: key.id, signature: sign(text) }]) };
}
