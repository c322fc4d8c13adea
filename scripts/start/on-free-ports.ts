/** A port that was free when it was chosen may be taken when it is used. */
import { type Addresses, chooseAddresses } from './addresses.ts';
import { PortTaken } from './service.ts';

const attempts = 5;

/** Starts with ports that are free; where another process was quicker, once more with others. */
export async function onFreePorts<T>(start: (addresses: Addresses) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await chooseAddresses());
    } catch (error) {
      if (!(error instanceof PortTaken) || attempt === attempts) throw error;
    }
  }
}
