/** Records the decisions that visitors make in a Klaro banner. */
import type { RecordClient } from '../record-client.ts';
import { decisionOf, reportOf } from './decision.ts';

/** The part of `klaro.getManager()` that is used. */
interface KlaroManager {
  confirmed: boolean;
  config: { services: { name: string; required?: boolean }[]; required?: boolean; lang?: string };
  watch(watcher: KlaroWatcher): void;
  unwatch(watcher: KlaroWatcher): void;
}

interface KlaroWatcher {
  update(manager: KlaroManager, event: string, details: unknown): void;
}

interface Saved {
  consents: Record<string, boolean>;
  /** only those that differ from the saved ones */
  changes: Record<string, boolean>;
}

/** Returns a function that stops the recording. */
export function recordKlaro(client: RecordClient, manager: KlaroManager): () => void {
  let hasDecided = manager.confirmed;

  const record = ({ consents, changes }: Saved) => {
    const optional = manager.config.services.filter(({ required = manager.config.required }) => !required);
    const allowed = optional.map(({ name }) => consents[name] === true);
    const hadAny = hasDecided && optional.some(({ name }) => (name in changes ? !changes[name] : consents[name]));
    hasDecided = true;
    client.record({
      ...reportOf(decisionOf(allowed, hadAny), consents),
      language: manager.config.lang || undefined,
    });
  };

  const watcher: KlaroWatcher = {
    update: (_, event, details) => {
      if (event === 'saveConsents') record(details as Saved);
    },
  };
  manager.watch(watcher);
  return () => manager.unwatch(watcher);
}
