/** How client addresses are stored. */

import { refuse } from '#libs/base/config/read';
import type { AddressRule } from '#libs/base/http/stored-address';
import type { Values } from './settings.ts';
import { secretKey } from './token-keys.ts';

export const readAddressRule = ({ IP_MODE: mode, IP_HASH_KEY: key }: Values): AddressRule => ({
  mode,
  hashKey:
    mode === 'hashed' ? secretKey('IP_HASH_KEY', key ?? refuse('IP_HASH_KEY', 'set for IP_MODE hashed')) : undefined,
});
