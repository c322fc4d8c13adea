/** A passkey in software: the credentials that a browser would send, valid or not. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { type openBrowser, origin } from './people.ts';

/** Flags of an authenticator: person present, person verified, key follows. */
const [present, verified, withKey] = [0x01, 0x04, 0x40];

interface Wrong {
  origin?: string;
  /** the domain that the passkey belongs to */
  domain?: string;
  isVerified?: boolean;
  counter?: number;
}

interface Options {
  challenge: string;
  user?: { id: string };
}

type Browser = ReturnType<typeof openBrowser>;

const text = (content: string): Buffer => Buffer.concat([Buffer.from([0x60 + content.length]), Buffer.from(content)]);
const bytes = (content: Buffer): Buffer => Buffer.concat([Buffer.from([0x58, content.length]), content]);

/** `userHandle`: known once it was added. */
export function makePasskey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(16);
  const id = credentialId.toString('base64url');
  const known = { userHandle: 'AAAA' };
  const [xBytes, yBytes] = [x, y].map((each) => bytes(Buffer.from(each, 'base64url')));
  // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
  const coseKey = Buffer.concat([
    Buffer.from('a5010203262001', 'hex'),
    Buffer.from([0x21]),
    xBytes ?? Buffer.of(),
    Buffer.from([0x22]),
    yBytes ?? Buffer.of(),
  ]);

  const credential = <Response>(response: Response) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });
  const clientData = (type: string, challenge: string, from = origin) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }));
  const authenticatorData = (
    flags: number,
    { domain = new URL(origin).hostname, isVerified = true, counter = 0 }: Wrong,
  ) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const hash = createHash('sha256').update(domain).digest();
    return Buffer.concat([hash, Buffer.from([flags | present | (isVerified ? verified : 0)]), count]);
  };

  const created = ({ challenge, user }: Options, wrong: Wrong = {}) => {
    if (user) known.userHandle = user.id;
    const authData = Buffer.concat([
      authenticatorData(withKey, wrong),
      Buffer.alloc(16),
      Buffer.from([0, credentialId.length]),
      credentialId,
      coseKey,
    ]);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      ...[text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0]), text('authData'), bytes(authData)],
    ]);
    return credential({
      clientDataJSON: clientData('webauthn.create', challenge, wrong.origin).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  };

  const signed = ({ challenge }: Options, wrong: Wrong = {}) => {
    const data = clientData('webauthn.get', challenge, wrong.origin);
    const authData = authenticatorData(0, wrong);
    const signature = createSign('sha256')
      .update(authData)
      .update(createHash('sha256').update(data).digest())
      .sign(privateKey);
    return credential({
      clientDataJSON: data.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: known.userHandle,
    });
  };

  return { created, signed };
}

export type SoftPasskey = ReturnType<typeof makePasskey>;

export const signInOptions = async (browser: Browser): Promise<Options> =>
  (await browser.post<Options>('sign-in/passkey/options')).body;

/** Adds a passkey, which can then sign in. */
export async function addPasskey(browser: Browser, token: string, name = 'Laptop') {
  const passkey = makePasskey();
  const options = await browser.as<Options>(token, 'POST', 'people/me/passkeys/options');
  const credential = passkey.created(options.body);
  const added = await browser.as<{ passkeyId: string }>(token, 'POST', 'people/me/passkeys/verify', {
    name,
    credential,
  });
  if (added.status !== 201) throw new Error(JSON.stringify(added.body));
  return { ...passkey, passkeyId: added.body.passkeyId };
}

export const signInWith = async (browser: Browser, { signed }: Pick<SoftPasskey, 'signed'>, wrong?: Wrong) =>
  browser.post('sign-in/passkey/verify', { credential: signed(await signInOptions(browser), wrong) });
